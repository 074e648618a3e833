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

/** A value next to its name: text, or JSON when it is no text. */
function ValueInput(p: { value: Json; onChange: (v: Json) => void; label: string }) {
  const suggestions = useSuggestions();
  const isText = typeof p.value === "string";
  const [draft, setDraft] = useState(isText ? "" : stringify(p.value));
  const [bad, setBad] = useState(false);
  const toggle = () => {
    if (!isText) {
      p.onChange(stringify(p.value));
      return;
    }
    const next = tryParse(p.value as string) ?? (p.value as string);
    setDraft(stringify(next));
    p.onChange(typeof next === "string" ? [next] : next);
    if (typeof next === "string") setDraft(stringify([next]));
  };
  const change = (v: string) => {
    if (isText) {
      p.onChange(v);
      return;
    }
    setDraft(v);
    const next = tryParse(v);
    setBad(next === undefined);
    if (next !== undefined && typeof next !== "string") p.onChange(next);
  };
  return (
    <div className="kv-value">
      <Editor
        key={isText ? "text" : "json"}
        value={isText ? (p.value as string) : draft}
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
    setRows(toRows(p.value));
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

function toRows(v: Json | undefined): Row[] {
  return Object.entries(isObject(v) ? v : {}).map(([name, value], id) => ({ id, name, value }));
}
