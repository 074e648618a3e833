/** A form for a run's input, drawn from its schema. */

import { type ReactNode, useId, useState } from "react";
import { equal, isNumber, type Json, type JsonObject, stringify, tryParse } from "../../graph/json";
import { mainType, propertiesOf, requiredOf, titleOf, withField } from "../../graph/schema";
import { readJson } from "../api";

type Problem = { path: string; message: string };

type FieldProps = {
  id: string;
  schema: JsonObject;
  value: Json | undefined;
  onChange: (v: Json | undefined) => void;
};

/** JSON as it is typed: the value is told while it is one, undefined while it is not. */
export function JsonField(p: {
  label: string;
  value: Json | undefined;
  rows: number;
  id?: string;
  onChange: (v: Json | undefined) => void;
}) {
  const [text, setText] = useState(() => (p.value === undefined ? "" : stringify(p.value, 2)));
  const [fault, setFault] = useState("");
  const type = (next: string) => {
    setText(next);
    try {
      p.onChange(readJson(next));
      setFault("");
    } catch (err) {
      setFault(err instanceof Error ? err.message : String(err));
      p.onChange(undefined);
    }
  };
  return (
    <>
      <textarea
        id={p.id}
        className="fm-input"
        data-mono
        rows={p.rows}
        value={text}
        spellCheck={false}
        aria-label={p.id === undefined ? p.label : undefined}
        aria-invalid={fault !== ""}
        onChange={(e) => type(e.target.value)}
      />
      {fault !== "" && <p className="fm-problem">{fault}</p>}
    </>
  );
}

function Choice(p: FieldProps & { choices: readonly Json[] }) {
  return (
    <select
      id={p.id}
      className="fm-input"
      value={p.value === undefined ? "" : stringify(p.value)}
      onChange={(e) => {
        const chosen = tryParse(e.target.value);
        p.onChange(p.choices.find((c) => equal(c, chosen)));
      }}
    >
      <option value="">Choose…</option>
      {p.choices.map((c) => (
        <option key={stringify(c)} value={stringify(c)}>
          {typeof c === "string" ? c : stringify(c)}
        </option>
      ))}
    </select>
  );
}

function NumberInput(p: FieldProps) {
  const [text, setText] = useState(() =>
    p.value === undefined ? "" : stringify(p.value).replaceAll('"', ""),
  );
  return (
    <input
      id={p.id}
      className="fm-input"
      inputMode="decimal"
      value={text}
      onChange={(e) => {
        setText(e.target.value);
        const n = tryParse(e.target.value.trim());
        // What is no number stays text, and the schema says so.
        p.onChange(e.target.value.trim() === "" ? undefined : isNumber(n) ? n : e.target.value);
      }}
    />
  );
}

function Input(p: FieldProps & { label: string }) {
  if (Array.isArray(p.schema.enum)) return <Choice {...p} choices={p.schema.enum} />;
  switch (mainType(p.schema)) {
    case "boolean":
      return (
        <input
          id={p.id}
          type="checkbox"
          checked={p.value === true}
          onChange={(e) => p.onChange(e.target.checked)}
        />
      );
    case "number":
    case "integer":
      return <NumberInput {...p} />;
    case "string": {
      const text = typeof p.value === "string" ? p.value : p.value === undefined ? "" : stringify(p.value);
      return (
        <textarea
          id={p.id}
          className="fm-input"
          dir="auto"
          rows={text.length > 80 || text.includes("\n") ? 4 : 1}
          value={text}
          onChange={(e) => p.onChange(e.target.value)}
        />
      );
    }
    default:
      return <JsonField {...p} rows={5} />;
  }
}

function Labelled(p: {
  id: string;
  label: string;
  required: boolean;
  hint: Json | undefined;
  children: ReactNode;
}) {
  return (
    <div className="fm-field">
      <label htmlFor={p.id}>
        {p.label}
        {p.required && <span className="fm-required"> required</span>}
      </label>
      {p.children}
      {typeof p.hint === "string" && <p className="dt-note">{p.hint}</p>}
    </div>
  );
}

export function InputForm(p: {
  schema: JsonObject;
  value: JsonObject;
  problems: readonly Problem[];
  onChange: (v: Json) => void;
}) {
  const id = useId();
  const required = requiredOf(p.schema);
  return (
    <div className="fm">
      {propertiesOf(p.schema).map(([name, s]) => {
        const label = titleOf(s, name);
        return (
          <Labelled
            key={name}
            id={id + name}
            label={label}
            required={required.has(name)}
            hint={s.description}
          >
            <Input
              id={id + name}
              schema={s}
              label={label}
              value={p.value[name]}
              onChange={(v) => p.onChange(withField(p.value, name, v))}
            />
            {p.problems
              .filter((x) => x.path.split(/[.[]/)[0] === name)
              .map((x) => (
                <p key={x.path + x.message} className="fm-problem" role="alert">
                  {x.message}
                </p>
              ))}
          </Labelled>
        );
      })}
    </div>
  );
}
