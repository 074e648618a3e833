/** Starting a run: a form drawn from the workflow's input schema. */

import { Play } from "lucide-react";
import { useId, useMemo, useState } from "react";
import type { Issue } from "../../graph/issue";
import { equal, isNumber, isObject, type Json, type JsonObject, parse, stringify } from "../../graph/json";
import {
  example,
  initialValue,
  mainType,
  mismatches,
  propertiesOf,
  requiredOf,
  titleOf,
  withField,
} from "../../graph/schema";
import { ApiError, startRun } from "../api";
import { useBuilder, useDocument, useUi } from "../context";
import { JsonInput } from "../form/fields";
import { Field, IssueLines, Select, Tabs, TextInput, Toggle } from "../form/parts";
import { Modal } from "./modal";

/** The input of the last run of each workflow, for this browser tab. */
const remembered = "sluice.run-input.";

/** An id for the server to know a repeated request by. Needs no secure connection. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}

function startValue(id: string, schema: JsonObject): JsonObject {
  try {
    const v = parse(sessionStorage.getItem(remembered + id) ?? "");
    if (isObject(v)) return v;
  } catch {
    // Nothing is remembered: start from the schema.
  }
  const v = initialValue(schema);
  return isObject(v) ? v : {};
}

export function RunDialog() {
  const b = useBuilder();
  const { definition, dirty } = useDocument();
  const { issues, meta } = useUi();
  const schema = useMemo(
    () => (isObject(definition.input_schema) ? definition.input_schema : {}),
    [definition],
  );
  const [value, setValue] = useState<Json>(() => startValue(meta.id, schema));
  const [found, setFound] = useState<Issue[]>([]);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState(false);
  // Sent again only when it is unknown whether the last attempt reached the server.
  const [key, setKey] = useState(newKey);
  const drawn = propertiesOf(schema).length > 0;
  const [tab, setTab] = useState<"form" | "json">(drawn ? "form" : "json");
  const errors = issues.filter((i) => i.severity === "error").length;
  const own = tried ? local(schema, value) : [];
  const close = () => b.ui.set({ dialog: null });

  const run = async () => {
    setTried(true);
    setFailure("");
    setFound([]);
    if (busy || local(schema, value).length > 0) return;
    setBusy(true);
    try {
      if (b.store.state.dirty && !(await b.save())) return;
      sessionStorage.setItem(remembered + meta.id, stringify(value));
      const id = await startRun(meta.id, value, key);
      setKey(newKey());
      location.assign(`/runs/${encodeURIComponent(id)}`);
    } catch (err) {
      if (err instanceof ApiError && err.status !== 0) setKey(newKey());
      if (err instanceof ApiError && err.issues.length > 0) setFound(err.issues);
      else setFailure(err instanceof Error ? err.message : String(err));
    } finally {
      setBusy(false);
    }
  };
  const shown = [
    ...own,
    ...found.map((i) => ({
      ...i,
      field: i.field.replace(/^(body\.)?input\.?/, "input.").replace(/\.$/, ""),
    })),
  ];
  const elsewhere = shown.filter((i) => tab === "json" || !isShownAt(schema, i.field));
  return (
    <Modal
      title="Run"
      onClose={close}
      onSubmit={() => void run()}
      footer={
        <>
          <span className="dg-note">
            {dirty ? "Saves the draft, then runs it." : "Runs the draft as it is saved."}
          </span>
          <button type="button" className="bt" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="bt bt--primary" disabled={busy}>
            <Play size={14} aria-hidden="true" /> {busy ? "Starting…" : "Run"}
          </button>
        </>
      }
    >
      {errors > 0 && (
        <p className="dg-alert" data-severity="error">
          The workflow has {errors === 1 ? "an error" : `${errors} errors`}: it can't run before{" "}
          {errors === 1 ? "it is" : "they are"} mended.{" "}
          <button
            type="button"
            className="bt-link"
            onClick={() => b.ui.set({ dialog: null, panel: "issues", sheet: true })}
          >
            Show
          </button>
        </p>
      )}
      {failure !== "" && (
        <p className="dg-alert" data-severity="error" role="alert">
          {failure}
        </p>
      )}
      <IssueLines issues={elsewhere} />
      {drawn && (
        <Tabs
          label="Input as"
          small
          value={tab}
          onChange={setTab}
          options={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
        />
      )}
      {tab === "form" ? (
        <InputFields
          schema={schema}
          value={isObject(value) ? value : {}}
          issues={shown}
          onChange={setValue}
        />
      ) : (
        <>
          {!drawn && <p className="ff-hint">This workflow declares no input. You may still give it some.</p>}
          <JsonInput value={value} onChange={(v) => setValue(v ?? {})} label="Input" lines={10} autoFocus />
        </>
      )}
    </Modal>
  );
}

function local(schema: JsonObject, value: Json): Issue[] {
  return mismatches(schema, value).map((m) => ({
    code: "input",
    severity: "error",
    node_id: "",
    field: m.path === "" ? "input" : `input.${m.path}`,
    message: m.message,
    fix: "",
  }));
}

function isShownAt(schema: JsonObject, field: string): boolean {
  return propertiesOf(schema).some(([name]) => under(field, `input.${name}`));
}

function under(field: string, base: string): boolean {
  return field === base || field.startsWith(`${base}.`) || field.startsWith(`${base}[`);
}

function InputFields(p: {
  schema: JsonObject;
  value: JsonObject;
  issues: readonly Issue[];
  onChange: (v: JsonObject) => void;
}) {
  const required = requiredOf(p.schema);
  return propertiesOf(p.schema).map(([name, s], i) => (
    <InputField
      key={name}
      name={name}
      schema={s}
      first={i === 0}
      required={required.has(name)}
      value={p.value[name]}
      issues={p.issues.filter((x) => under(x.field, `input.${name}`))}
      onChange={(v) => p.onChange(withField(p.value, name, v))}
    />
  ));
}

type InputProps = {
  name: string;
  schema: JsonObject;
  first: boolean;
  required: boolean;
  value: Json | undefined;
  issues: readonly Issue[];
  onChange: (v: Json | undefined) => void;
};

function InputField(p: InputProps) {
  const id = useId();
  const { schema: s, value } = p;
  const label = titleOf(s, p.name);
  const hint = typeof s.description === "string" ? s.description : "";
  if (Array.isArray(s.enum)) {
    const options = s.enum.map((v) => ({
      value: stringify(v),
      label: typeof v === "string" ? v : stringify(v),
    }));
    const current = value === undefined ? "" : stringify(value);
    return (
      <Field label={label} htmlFor={id} hint={hint} required={p.required} issues={p.issues}>
        <Select
          id={id}
          value={current}
          options={[{ value: "", label: "Choose…" }, ...options]}
          onChange={(v) =>
            p.onChange(s.enum && v !== "" ? (s.enum as Json[]).find((x) => equal(x, parse(v))) : undefined)
          }
        />
      </Field>
    );
  }
  switch (mainType(s)) {
    case "boolean":
      return (
        <>
          <Toggle label={label} hint={hint} checked={value === true} onChange={p.onChange} />
          <IssueLines issues={p.issues} />
        </>
      );
    case "string":
      return <StringInput {...p} id={id} label={label} hint={hint} />;
    case "number":
    case "integer":
      return (
        <Field label={label} htmlFor={id} hint={hint} required={p.required} issues={p.issues}>
          <TextInput
            id={id}
            value={
              value === undefined || value === null
                ? ""
                : typeof value === "string"
                  ? value
                  : stringify(value)
            }
            inputMode="decimal"
            autoFocus={p.first}
            invalid={p.issues.length > 0}
            onChange={(v) => p.onChange(v.trim() === "" ? undefined : numberOr(v))}
          />
        </Field>
      );
    default:
      return (
        <Field label={label} hint={hint} required={p.required} issues={p.issues}>
          <JsonInput
            value={value}
            onChange={p.onChange}
            label={label}
            lines={5}
            placeholder={stringify(example(s), 2)}
            autoFocus={p.first}
          />
        </Field>
      );
  }
}

/** What is no number stays text, and its mismatch is shown. */
function numberOr(v: string): Json {
  try {
    const n = parse(v.trim());
    return isNumber(n) ? n : v;
  } catch {
    return v;
  }
}

const inputTypes: Record<string, string> = { date: "date", "date-time": "text", email: "email", uri: "url" };

function StringInput(p: InputProps & { id: string; label: string; hint: string }) {
  const { schema: s, value } = p;
  const shown = typeof value === "string" ? value : value === undefined ? "" : stringify(value);
  const long =
    (isNumber(s.maxLength) ? Number(s.maxLength) > 200 : false) ||
    shown.includes("\n") ||
    s.format === "textarea";
  const change = (v: string) => p.onChange(v === "" && !p.required ? undefined : v);
  const common = {
    id: p.id,
    value: shown,
    "aria-invalid": p.issues.length > 0 || undefined,
    autoFocus: p.first,
  };
  return (
    <Field label={p.label} htmlFor={p.id} hint={p.hint} required={p.required} issues={p.issues}>
      {long || s.format === undefined ? (
        <textarea
          {...common}
          className="fi fi--area fi--grow"
          rows={long ? 4 : 1}
          onChange={(e) => change(e.target.value)}
        />
      ) : (
        <input
          {...common}
          className="fi"
          type={inputTypes[String(s.format)] ?? "text"}
          onChange={(e) => change(e.target.value)}
        />
      )}
    </Field>
  );
}
