/** Fields that hold one value. */

import { Braces } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import {
  child,
  equal,
  isNumber,
  type Json,
  type JsonObject,
  list,
  parse,
  RawNumber,
  stringify,
} from "../../graph/json";
import { typesOf } from "../../graph/schema";
import type { Suggestion } from "../../graph/upstream";
import { useChoices, useFocus, useIssuesAt, useSuggestions } from "./context";
import { Editor, type Language } from "./editor";
import { hintsOf } from "./hints";
import { Field, Select, TextInput, Toggle } from "./parts";

export type FieldProps = {
  schema: JsonObject;
  value: Json | undefined;
  onChange: (v: Json | undefined) => void;
  /** Where the value is: "config.prompt". */
  path: string;
  label: string;
  required?: boolean;
};

function asText(v: Json | undefined): string {
  if (v === undefined || v === null) return "";
  return typeof v === "string" ? v : stringify(v);
}

/** An empty text is an absent field, unless the field must be there. */
function fromText(v: string, required: boolean | undefined): Json | undefined {
  return v === "" && !required ? undefined : v;
}

function InsertButton({ onClick, label }: { onClick: () => void; label: string }) {
  return (
    <button
      type="button"
      className="ib"
      title="Insert a value of an earlier step"
      aria-label={`Insert a reference into ${label}`}
      onMouseDown={(e) => e.preventDefault()}
      onClick={onClick}
    >
      <Braces size={13} aria-hidden="true" />
    </button>
  );
}

const secret: Suggestion = { path: "secret.", detail: "a stored secret, by name", group: "run" };

export function TemplateField(p: FieldProps & { language: Language; lines: number }) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, false);
  const names = useSuggestions();
  const suggestions = p.schema["x-secret"] === true ? [...names, secret] : names;
  const focus = useFocus(p.path);
  const insert = useRef<(() => void) | null>(null);
  const literal = p.schema["x-mode"] === "literal";
  return (
    <Field
      label={p.label}
      hint={hints.help}
      required={p.required === true}
      issues={issues}
      action={!literal && <InsertButton onClick={() => insert.current?.()} label={p.label} />}
    >
      <Editor
        value={asText(p.value)}
        onChange={(v) => p.onChange(fromText(v, p.required))}
        language={literal && p.language === "template" ? "plain" : p.language}
        label={p.label}
        lines={p.lines}
        suggestions={suggestions}
        placeholder={hints.placeholder}
        invalid={issues.some((i) => i.severity === "error")}
        autoFocus={focus}
        onReady={(f) => {
          insert.current = f;
        }}
      />
    </Field>
  );
}

/** A number, or a template that gives one. What is neither is kept while it is typed. */
export function NumberField(p: FieldProps) {
  const id = useId();
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  const focus = useFocus(p.path);
  const placeholder = hints.placeholder || (p.schema.default === undefined ? "" : asText(p.schema.default));
  return (
    <Field label={p.label} htmlFor={id} hint={hints.help} required={p.required === true} issues={issues}>
      <TextInput
        id={id}
        value={asText(p.value)}
        placeholder={placeholder}
        invalid={issues.length > 0}
        autoFocus={focus}
        inputMode="decimal"
        onChange={(v) => p.onChange(v.trim() === "" ? undefined : toNumber(v))}
      />
    </Field>
  );
}

function toNumber(v: string): Json {
  try {
    const n = parse(v);
    return isNumber(n) ? n : v;
  } catch {
    return v;
  }
}

export function SwitchField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  const fallback = p.schema.default === true;
  if (typeof p.value === "string") return <TemplateField {...p} language="template" lines={1} />;
  return (
    <>
      <Toggle
        label={p.label}
        hint={hints.help}
        checked={typeof p.value === "boolean" ? p.value : fallback}
        onChange={(v) => p.onChange(v === fallback && !p.required ? undefined : v)}
      />
      {issues.map((i) => (
        <p key={i.message} className="ff-issue" data-severity={i.severity}>
          {i.message}
        </p>
      ))}
    </>
  );
}

function optionsOf(schema: JsonObject): { value: string; label: string; json: Json }[] {
  const labels = child(schema, "x-labels") ?? {};
  return list(schema, "enum").map((json) => {
    const value = asText(json);
    const label = labels[value];
    return { value, json, label: typeof label === "string" ? label : value.replace(/_/g, " ") || "(empty)" };
  });
}

export function SelectField(p: FieldProps) {
  const id = useId();
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  const options = optionsOf(p.schema);
  const fallback = p.schema.default;
  const value = p.value === undefined ? asText(fallback) : asText(p.value);
  const missing = !options.some((o) => o.value === value);
  const shown = missing
    ? [{ value, label: value === "" ? "Choose…" : value, json: value as Json }, ...options]
    : options;
  return (
    <Field label={p.label} htmlFor={id} hint={hints.help} required={p.required === true} issues={issues}>
      <Select
        id={id}
        value={value}
        options={shown}
        onChange={(v) => {
          const json = shown.find((o) => o.value === v)?.json;
          p.onChange(equal(json, fallback) && !p.required ? undefined : json);
        }}
      />
    </Field>
  );
}

/** The name of something on the server, with suggestions; any text and templates are fine. */
export function ChoiceField(p: FieldProps) {
  const id = useId();
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  const focus = useFocus(p.path);
  const choices = useChoices(hints.source);
  const current = choices.find((c) => c.value === p.value);
  const hint = current && current.label !== current.value ? current.label : hints.help;
  return (
    <Field label={p.label} htmlFor={id} hint={hint} required={p.required === true} issues={issues}>
      <TextInput
        id={id}
        value={asText(p.value)}
        placeholder={hints.placeholder}
        list={`${id}-list`}
        invalid={issues.length > 0}
        autoFocus={focus}
        onChange={(v) => p.onChange(fromText(v, p.required))}
      />
      <datalist id={`${id}-list`}>
        {choices.map((c) => (
          <option key={c.value} value={c.value}>
            {c.label}
          </option>
        ))}
      </datalist>
    </Field>
  );
}

const units = [
  { value: "1", label: "ms" },
  { value: "1000", label: "sec" },
  { value: "60000", label: "min" },
  { value: "3600000", label: "hours" },
  { value: "86400000", label: "days" },
] as const;

/** The largest unit that a duration is a whole number of. */
function unitOf(ms: number): number {
  const fit = [...units].reverse().find((u) => ms !== 0 && ms % Number(u.value) === 0);
  return Number(fit?.value ?? 1000);
}

/** A duration in milliseconds as number and unit. */
export function MillisInput(p: {
  id?: string;
  value: number | null;
  onChange: (ms: number | null) => void;
  placeholder?: string;
  label: string;
}) {
  const [unit, setUnit] = useState(() => unitOf(p.value ?? 0));
  const shown = p.value === null ? "" : String(p.value / unit);
  return (
    <div className="fd">
      <input
        id={p.id}
        className="fi"
        type="number"
        min="0"
        step="any"
        value={shown}
        placeholder={p.placeholder}
        aria-label={p.label}
        onChange={(e) => p.onChange(e.target.value === "" ? null : Math.round(Number(e.target.value) * unit))}
      />
      <Select
        value={String(unit)}
        options={units}
        label={`Unit of ${p.label}`}
        onChange={(v) => {
          setUnit(Number(v));
          if (p.value !== null) p.onChange((p.value / unit) * Number(v));
        }}
      />
    </div>
  );
}

/** A length of time as text: "90s", "1h30m", "2d", a number of seconds, or a template. */
export function DurationField(p: FieldProps) {
  const ui = { placeholder: "1h30m", ...child(p.schema, "x-ui") };
  return <TemplateField {...p} schema={{ ...p.schema, "x-ui": ui }} language="template" lines={1} />;
}

/** A text that is no JSON by itself, such as {{step.draft}}, is shown without quotes. */
function toJsonText(v: Json | undefined): string {
  if (v === undefined) return "";
  return typeof v === "string" && isBare(v) ? v : stringify(v, 2);
}

function isBare(v: string): boolean {
  return /^\{\{[\s\S]*\}\}$/.test(v.trim());
}

/** Any value as JSON text. A text that is no JSON yet stays here and is not applied. */
export function JsonInput(p: {
  value: Json | undefined;
  onChange: (v: Json | undefined) => void;
  label: string;
  lines?: number;
  placeholder?: string;
  check?: (v: Json) => string | null;
  autoFocus?: boolean;
}) {
  const suggestions = useSuggestions();
  const [draft, setDraft] = useState(() => toJsonText(p.value));
  const [error, setError] = useState("");
  const applied = useRef(p.value);
  useEffect(() => {
    if (equal(p.value, applied.current) && (p.value === undefined) === (applied.current === undefined))
      return;
    applied.current = p.value;
    setDraft(toJsonText(p.value));
    setError("");
  }, [p.value]);
  const change = (text: string) => {
    setDraft(text);
    try {
      const v = text.trim() === "" ? undefined : isBare(text) ? text.trim() : parse(text);
      const reason = v === undefined ? null : (p.check?.(v) ?? null);
      setError(reason ?? "");
      if (reason !== null) return;
      applied.current = v;
      p.onChange(v);
    } catch (err) {
      setError(err instanceof Error ? err.message : String(err));
    }
  };
  return (
    <>
      <Editor
        value={draft}
        onChange={change}
        language="json"
        label={p.label}
        lines={p.lines ?? 4}
        suggestions={suggestions}
        placeholder={p.placeholder ?? ""}
        invalid={error !== ""}
        autoFocus={p.autoFocus === true}
      />
      {error !== "" && (
        <p className="ff-issue" data-severity="error" role="alert">
          Not applied yet: {error}
        </p>
      )}
    </>
  );
}

export function JsonField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  const focus = useFocus(p.path);
  return (
    <Field label={p.label} hint={hints.help} required={p.required === true} issues={issues}>
      <JsonInput
        value={p.value}
        onChange={p.onChange}
        label={p.label}
        lines={hints.lines || 4}
        placeholder={hints.placeholder}
        autoFocus={focus}
        check={(v) => whyNotType(p.schema, v)}
      />
    </Field>
  );
}

/** JSON that can't be the field's type is kept back; a template may become any type. */
function whyNotType(schema: JsonObject, v: Json): string | null {
  const types = typesOf(schema);
  if (types.length === 0 || typeof v === "string") return null;
  const own = v === null ? "null" : Array.isArray(v) ? "array" : v instanceof RawNumber ? "number" : typeof v;
  const fits = types.some((t) => t === own || (t === "integer" && own === "number"));
  return fits ? null : `expected ${types.join(" or ")}`;
}
