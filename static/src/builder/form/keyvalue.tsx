/** Names with values. */

import { Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { isObject, type Json, stringify, tryParse } from "../../graph/json";
import { useIssuesAt, useSuggestions } from "./context";
import { Editor } from "./editor";
import type { FieldProps } from "./fields";
import { hintsOf } from "./hints";
import { AddButton, IconButton } from "./lists";
import { Field, TextInput } from "./parts";

/** A value next to its name: text, or JSON when it is to be something else. */
function ValueInput(p: { value: Json; onChange: (v: Json) => void; label: string }) {
  const suggestions = useSuggestions();
  const [json, setJson] = useState(typeof p.value !== "string");
  const [draft, setDraft] = useState(() => stringify(p.value));
  const isText = !json && typeof p.value === "string";
  const bad = !isText && tryParse(draft) === undefined;
  const toggle = () => {
    setJson(isText);
    if (!isText) {
      if (typeof p.value !== "string") p.onChange(stringify(p.value));
      return;
    }
    // "12" as JSON is the number; what is no JSON stays the text that it is.
    const parsed = tryParse(String(p.value));
    const value = parsed === undefined ? p.value : parsed;
    setDraft(stringify(value));
    p.onChange(value);
  };
  const change = (v: string) => {
    const value = isText ? v : tryParse(v);
    if (!isText) setDraft(v);
    if (value !== undefined) p.onChange(value);
  };
  return (
    <div className="kv-value">
      <Editor
        key={isText ? "text" : "json"}
        value={isText ? String(p.value) : draft}
        onChange={change}
        language={isText ? "template" : "json"}
        label={p.label}
        lines={1}
        suggestions={suggestions}
        invalid={bad}
      />
      <button
        type="button"
        className="kv-type"
        title={
          isText ? "Text or a template. Click for JSON" : "JSON: a number, a list, an object. Click for text"
        }
        aria-label={`${p.label} is ${isText ? "text" : "JSON"}; change`}
        onClick={toggle}
      >
        {isText ? "Aa" : "{ }"}
      </button>
    </div>
  );
}

type Row = { id: number; name: string; value: Json };

/** Names and values. Rows keep their place while a name is empty or doubled. */
export function KeyValueField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, true);
  const [rows, setRows] = useState<Row[]>(() => toRows(p.value));
  const sent = useRef(p.value);
  useEffect(() => {
    if (p.value === sent.current) return;
    sent.current = p.value;
    // New ids: what the old rows still hold of their values is out of date.
    setRows((old) => toRows(p.value, 1 + Math.max(0, ...old.map((r) => r.id))));
  }, [p.value]);
  const update = (next: Row[]) => {
    setRows(next);
    const fields = next.filter((r) => r.name !== "").map((r) => [r.name, r.value] as const);
    const value = fields.length === 0 && !p.required ? undefined : Object.fromEntries(fields);
    sent.current = value;
    p.onChange(value);
  };
  const set = (id: number, fields: Partial<Row>) =>
    update(rows.map((r) => (r.id === id ? { ...r, ...fields } : r)));
  const twice = (name: string) => name !== "" && rows.filter((r) => r.name === name).length > 1;
  return (
    <Field label={p.label} hint={hints.help} required={p.required === true} issues={issues}>
      {rows.map((r) => (
        <div className="kv" key={r.id}>
          <TextInput
            value={r.name}
            label={`Name in ${p.label}`}
            placeholder="name"
            mono
            invalid={twice(r.name)}
            onChange={(name) => set(r.id, { name })}
          />
          <ValueInput
            value={r.value}
            label={`Value of ${r.name || "the new entry"}`}
            onChange={(value) => set(r.id, { value })}
          />
          <IconButton
            label={`Remove ${r.name || "entry"}`}
            onClick={() => update(rows.filter((x) => x.id !== r.id))}
          >
            <Trash2 size={13} aria-hidden="true" />
          </IconButton>
        </div>
      ))}
      <AddButton
        label="Add"
        onClick={() =>
          setRows([...rows, { id: 1 + Math.max(0, ...rows.map((r) => r.id)), name: "", value: "" }])
        }
      />
    </Field>
  );
}

function toRows(v: Json | undefined, from = 0): Row[] {
  return Object.entries(isObject(v) ? v : {}).map(([name, value], i) => ({ id: from + i, name, value }));
}
