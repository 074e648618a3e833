/** Fields that hold several values: names with values, rows, lists. */

import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { freeId, slug } from "../../graph/ids";
import { isObject, type Json, type JsonObject, list, stringify, text, tryParse } from "../../graph/json";
import {
  initialValue,
  itemsOf,
  mainType,
  propertiesOf,
  requiredOf,
  titleOf,
  withField,
} from "../../graph/schema";
import { useIssuesAt, useSuggestions } from "./context";
import { Editor } from "./editor";
import type { FieldProps } from "./fields";
import { AnyField, ObjectFields } from "./form";
import { hintsOf } from "./hints";
import { Field, Select } from "./parts";

export function IconButton(p: {
  label: string;
  onClick: () => void;
  disabled?: boolean;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      className="ib"
      title={p.label}
      aria-label={p.label}
      disabled={p.disabled}
      onClick={p.onClick}
    >
      {p.children}
    </button>
  );
}

export function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" className="bt bt--ghost bt--small" onClick={onClick}>
      <Plus size={13} aria-hidden="true" /> {label}
    </button>
  );
}

function Tools(p: {
  what: string;
  index: number;
  count: number;
  onMove: (to: number) => void;
  onRemove: () => void;
}) {
  return (
    <span className="fl-tools">
      <IconButton label={`Move ${p.what} up`} disabled={p.index === 0} onClick={() => p.onMove(p.index - 1)}>
        <ArrowUp size={13} aria-hidden="true" />
      </IconButton>
      <IconButton
        label={`Move ${p.what} down`}
        disabled={p.index === p.count - 1}
        onClick={() => p.onMove(p.index + 1)}
      >
        <ArrowDown size={13} aria-hidden="true" />
      </IconButton>
      <IconButton label={`Remove ${p.what}`} onClick={p.onRemove}>
        <Trash2 size={13} aria-hidden="true" />
      </IconButton>
    </span>
  );
}

function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const out = items.filter((_, i) => i !== from);
  const item = items[from];
  if (item !== undefined) out.splice(to, 0, item);
  return out;
}

/** Unary operators have nothing to compare with. */
const unary = new Set(["is_empty", "is_not_empty"]);

/** Compact rows of a few fields side by side: conditions and the like. */
export function RowsField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, false);
  const items = Array.isArray(p.value) ? p.value : [];
  const schema = itemSchema(p.schema, hints.source);
  const set = (next: Json[]) => p.onChange(next.length === 0 && !p.required ? undefined : next);
  return (
    <Field label={p.label} hint={hints.help} required={p.required === true} issues={issues}>
      {items.map((item, i) => (
        <RowFields
          key={i}
          item={isObject(item) ? item : {}}
          schema={schema}
          path={`${p.path}[${i}]`}
          label={`${p.label} ${i + 1}`}
          onChange={(v) => set(items.map((x, j) => (j === i ? v : x)))}
          tools={
            <Tools
              what="row"
              index={i}
              count={items.length}
              onMove={(to) => set(moved(items, i, to))}
              onRemove={() => set(items.filter((_, j) => j !== i))}
            />
          }
        />
      ))}
      <AddButton label="Add row" onClick={() => set([...items, initialValue(schema) ?? {}])} />
    </Field>
  );
}

function RowFields(p: {
  item: JsonObject;
  schema: JsonObject;
  path: string;
  label: string;
  onChange: (v: JsonObject) => void;
  tools: ReactNode;
}) {
  const suggestions = useSuggestions();
  const issues = useIssuesAt(p.path, true);
  const hideRight = unary.has(text(p.item, "operator"));
  return (
    <div className="fr">
      <div className="fr-fields">
        {propertiesOf(p.schema).map(([name, s]) => {
          const value = p.item[name];
          const label = `${titleOf(s, name)} of ${p.label}`;
          if (name === "right" && hideRight) return null;
          if (Array.isArray(s.enum)) {
            const options = s.enum.map((v) => ({ value: String(v), label: String(v).replace(/_/g, " ") }));
            const current =
              value === undefined ? String(s.default ?? options[0]?.value ?? "") : String(value);
            return (
              <Select
                key={name}
                label={label}
                value={current}
                options={options}
                onChange={(v) => p.onChange({ ...p.item, [name]: v })}
              />
            );
          }
          const language =
            s["x-mode"] === "expression" ? "expression" : s["x-mode"] === "literal" ? "plain" : "template";
          return (
            <Editor
              key={name}
              label={label}
              placeholder={titleOf(s, name)}
              language={language}
              lines={1}
              suggestions={suggestions}
              value={value === undefined ? "" : typeof value === "string" ? value : stringify(value)}
              onChange={(v) => p.onChange(withField(p.item, name, fromCell(v, s)))}
            />
          );
        })}
        {p.tools}
      </div>
      {issues.map((i) => (
        <p key={i.field + i.message} className="ff-issue" data-severity={i.severity}>
          {i.message}
        </p>
      ))}
    </div>
  );
}

/** A cell that may be of any type reads 12, true and null as such; text stays text. */
function fromCell(v: string, schema: JsonObject): Json {
  if (mainType(schema) !== "" && mainType(schema) !== "number") return v;
  const parsed = tryParse(v);
  return parsed === undefined || typeof parsed === "object" ? v : parsed;
}

/** A list of anything. Texts are one line each; objects are cards. */
export function ListField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  const issues = useIssuesAt(p.path, false);
  // What a field defaults to is shown as its entries: editing one makes them its own.
  const items = Array.isArray(p.value) ? p.value : list(p.schema, "default");
  const schema = itemSchema(p.schema, hints.source);
  const set = (next: Json[]) => p.onChange(next.length === 0 && !p.required ? undefined : next);
  if (p.value !== undefined && !Array.isArray(p.value))
    return <AnyField {...p} schema={{ ...p.schema, "x-ui": { widget: "text" } }} />;
  const one = text(schema, "title") || singular(p.label);
  return (
    <Field label={p.label} hint={hints.help} required={p.required === true} issues={issues}>
      {items.map((item, i) => (
        <ListItem
          key={i}
          item={item}
          schema={schema}
          path={`${p.path}[${i}]`}
          label={(isObject(item) && (text(item, "label") || text(item, "id"))) || `${one} ${i + 1}`}
          onChange={(v) => set(items.map((x, j) => (j === i ? v : x)))}
          tools={
            <Tools
              what={`${one} ${i + 1}`}
              index={i}
              count={items.length}
              onMove={(to) => set(moved(items, i, to))}
              onRemove={() => set(items.filter((_, j) => j !== i))}
            />
          }
        />
      ))}
      <AddButton
        label={`Add ${one.toLowerCase()}`}
        onClick={() => set([...items, fresh(schema, items, one)])}
      />
    </Field>
  );
}

/** Entries of a list of names are chosen like a single name. */
function itemSchema(schema: JsonObject, source: string): JsonObject {
  const items = itemsOf(schema);
  return source === "" || items["x-ui"] !== undefined ? items : { ...items, "x-ui": { widget: source } };
}

/** A new entry: its defaults, and a free id where entries have one. */
function fresh(schema: JsonObject, items: readonly Json[], name: string): Json {
  const v = initialValue(schema) ?? (mainType(schema) === "object" ? {} : "");
  if (!isObject(v) || !requiredOf(schema).has("id")) return v;
  const taken = new Set(items.map((i) => (isObject(i) ? text(i, "id") : "")));
  return { ...v, id: freeId(slug(name), taken) };
}

function singular(label: string): string {
  if (/ies$/.test(label)) return label.replace(/ies$/, "y");
  if (/(?:s|x|ch|sh)es$/.test(label) && !/cases$/i.test(label)) return label.replace(/es$/, "");
  return label.replace(/s$/, "");
}

function ListItem(p: {
  item: Json;
  schema: JsonObject;
  path: string;
  label: string;
  onChange: (v: Json) => void;
  tools: ReactNode;
}) {
  if (mainType(p.schema) === "object" && propertiesOf(p.schema).length > 0) {
    return (
      <fieldset className="fc">
        <legend className="sr">{p.label}</legend>
        <div className="fc-head">
          <span>{p.label}</span>
          {p.tools}
        </div>
        <ObjectFields
          schema={p.schema}
          value={isObject(p.item) ? p.item : {}}
          onChange={p.onChange}
          path={p.path}
        />
      </fieldset>
    );
  }
  return (
    <div className="fl">
      <AnyField
        schema={p.schema}
        value={p.item}
        path={p.path}
        label={p.label}
        required
        onChange={(v) => p.onChange(v ?? "")}
      />
      {p.tools}
    </div>
  );
}

export function ObjectField(p: FieldProps) {
  const issues = useIssuesAt(p.path, false);
  const hints = hintsOf(p.schema);
  const required = requiredOf(p.schema);
  return (
    <fieldset className="fc">
      <legend className="fc-legend">{p.label}</legend>
      {hints.help !== "" && <p className="ff-hint">{hints.help}</p>}
      <ObjectFields
        schema={p.schema}
        value={isObject(p.value) ? p.value : {}}
        path={p.path}
        onChange={(v) =>
          p.onChange(Object.keys(v).length === 0 && !p.required && required.size === 0 ? undefined : v)
        }
      />
      {issues.map((i) => (
        <p key={i.message} className="ff-issue" data-severity={i.severity}>
          {i.message}
        </p>
      ))}
    </fieldset>
  );
}
