/** A schema as a list of fields, with JSON for what a list can't say. */

import { Trash2 } from "lucide-react";
import { useState } from "react";
import { isObject, type Json, type JsonObject, list, text } from "../../graph/json";
import { propertiesOf, requiredOf, withField } from "../../graph/schema";
import { useIssuesAt } from "./context";
import { type FieldProps, JsonInput } from "./fields";
import { hintsOf } from "./hints";
import { AddButton, IconButton } from "./lists";
import { Field, Select, Tabs, TextInput } from "./parts";

const types = [
  { value: "string", label: "text" },
  { value: "number", label: "number" },
  { value: "integer", label: "whole number" },
  { value: "boolean", label: "yes / no" },
  { value: "choice", label: "choice" },
  { value: "array", label: "list" },
  { value: "object", label: "object" },
];

const plain = new Set([
  "type",
  "title",
  "description",
  "enum",
  "default",
  "items",
  "properties",
  "required",
  "format",
]);

/** Whether the list of fields can show a schema without hiding anything of it. */
function isSimple(v: Json | undefined): boolean {
  if (v === undefined || v === null) return true;
  if (!isObject(v)) return false;
  const known = new Set([
    "$schema",
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
  ]);
  if (v.type !== undefined && v.type !== "object") return false;
  if (!Object.keys(v).every((k) => known.has(k))) return false;
  return propertiesOf(v).every(([, s]) => typeof s.type === "string" || Array.isArray(s.enum));
}

function typeOf(s: JsonObject): string {
  return Array.isArray(s.enum) ? "choice" : text(s, "type") || "string";
}

/** Changes the type and keeps what still means something. */
function withType(s: JsonObject, type: string): JsonObject {
  const kept: JsonObject = {};
  for (const k of ["title", "description"]) if (s[k] !== undefined) kept[k] = s[k] ?? null;
  if (type === "choice") return { type: "string", ...kept, enum: ["one", "two"] };
  if (type === "array") return { type, ...kept, items: isObject(s.items) ? s.items : { type: "string" } };
  return { type, ...kept };
}

type Entry = { name: string; schema: JsonObject; required: boolean };

function entriesOf(v: JsonObject): Entry[] {
  const required = requiredOf(v);
  return propertiesOf(v).map(([name, schema]) => ({ name, schema, required: required.has(name) }));
}

function fromEntries(v: JsonObject, entries: Entry[]): JsonObject | null {
  if (entries.length === 0) return null;
  const required = entries.filter((e) => e.required).map((e) => e.name);
  const next: JsonObject = {
    ...v,
    type: "object",
    properties: Object.fromEntries(entries.map((e) => [e.name, e.schema])),
  };
  return withField(next, "required", required.length > 0 ? required : undefined);
}

export function SchemaEditor(p: {
  value: Json | undefined;
  onChange: (v: Json | undefined) => void;
  label: string;
}) {
  const simple = isSimple(p.value);
  const [tab, setTab] = useState<"fields" | "json">(simple ? "fields" : "json");
  return (
    <div className="se">
      <Tabs
        small
        label={`View of ${p.label}`}
        value={tab}
        onChange={setTab}
        options={[
          { value: "fields", label: "Fields" },
          { value: "json", label: "JSON Schema" },
        ]}
      />
      {tab === "json" ? (
        <JsonInput
          value={p.value ?? undefined}
          onChange={p.onChange}
          label={p.label}
          lines={8}
          check={(v) => (isObject(v) || typeof v === "boolean" ? null : "a schema is an object")}
        />
      ) : simple ? (
        <SchemaFields value={isObject(p.value) ? p.value : {}} onChange={(v) => p.onChange(v ?? undefined)} />
      ) : (
        <p className="ff-hint">This schema says more than a list of fields can show. Edit it as JSON.</p>
      )}
    </div>
  );
}

function SchemaFields(p: { value: JsonObject; onChange: (v: JsonObject | null) => void }) {
  const entries = entriesOf(p.value);
  const set = (next: Entry[]) => p.onChange(fromEntries(p.value, next));
  const change = (i: number, fields: Partial<Entry>) =>
    set(entries.map((e, j) => (j === i ? { ...e, ...fields } : e)));
  const add = () => {
    const taken = new Set(entries.map((e) => e.name));
    let name = "field";
    for (let n = 2; taken.has(name); n++) name = `field_${n}`;
    set([...entries, { name, schema: { type: "string" }, required: false }]);
  };
  return (
    <>
      {entries.map((e, i) => (
        <SchemaRow
          key={i}
          entry={e}
          taken={entries.some((o, j) => j !== i && o.name === e.name)}
          names={entries.filter((_, j) => j !== i).map((o) => o.name)}
          onChange={(fields) => change(i, fields)}
          onRemove={() => set(entries.filter((_, j) => j !== i))}
        />
      ))}
      <AddButton label="Add field" onClick={add} />
    </>
  );
}

function SchemaRow(p: {
  entry: Entry;
  taken: boolean;
  names: string[];
  onChange: (fields: Partial<Entry>) => void;
  onRemove: () => void;
}) {
  const { name, schema, required } = p.entry;
  const [draft, setDraft] = useState(name);
  const bad = draft === "" || (draft !== name && p.names.includes(draft));
  const known = Object.keys(schema).every((k) => plain.has(k));
  return (
    <div className="sf">
      <div className="sf-row">
        <TextInput
          value={draft}
          label="Name of the field"
          mono
          invalid={bad}
          onChange={(v) => {
            setDraft(v);
            if (v !== "" && !p.names.includes(v)) p.onChange({ name: v });
          }}
        />
        <Select
          value={typeOf(schema)}
          options={types}
          label={`Type of ${name}`}
          onChange={(t) => p.onChange({ schema: withType(schema, t) })}
        />
        <label className="sf-required">
          <input
            type="checkbox"
            checked={required}
            onChange={(e) => p.onChange({ required: e.target.checked })}
          />
          required
        </label>
        <IconButton label={`Remove ${name}`} onClick={p.onRemove}>
          <Trash2 size={13} aria-hidden="true" />
        </IconButton>
      </div>
      <SchemaRowMore schema={schema} name={name} onChange={(s) => p.onChange({ schema: s })} />
      {!known && <p className="ff-hint">Has further rules: see JSON Schema.</p>}
    </div>
  );
}

function SchemaRowMore(p: { schema: JsonObject; name: string; onChange: (s: JsonObject) => void }) {
  const { schema } = p;
  const items = isObject(schema.items) ? schema.items : {};
  return (
    <div className="sf-more">
      <TextInput
        value={text(schema, "description")}
        label={`Description of ${p.name}`}
        placeholder="What it is (shown in forms)"
        onChange={(v) => p.onChange(withField(schema, "description", v === "" ? undefined : v))}
      />
      {Array.isArray(schema.enum) && (
        <TextInput
          value={list(schema, "enum").map(String).join(", ")}
          label={`Choices of ${p.name}`}
          placeholder="one, two, three"
          onChange={(v) => p.onChange({ ...schema, enum: v.split(",").map((x) => x.trim()) })}
        />
      )}
      {typeOf(schema) === "array" && (
        <Select
          value={typeOf(items)}
          options={types.filter((t) => t.value !== "choice")}
          label={`Type of the entries of ${p.name}`}
          onChange={(t) => p.onChange({ ...schema, items: withType({}, t) })}
        />
      )}
    </div>
  );
}

export function SchemaField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  return (
    <Field label={p.label} hint={hints.help} required={p.required === true} issues={issues}>
      <SchemaEditor value={p.value} onChange={p.onChange} label={p.label} />
    </Field>
  );
}
