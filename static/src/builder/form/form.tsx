/** A form drawn from a JSON Schema. */

import type { Json, JsonObject } from "../../graph/json";
import { propertiesOf, requiredOf, titleOf, withField } from "../../graph/schema";
import { useIssuesAt } from "./context";
import {
  ChoiceField,
  DurationField,
  type FieldProps,
  JsonField,
  NumberField,
  SelectField,
  SwitchField,
  TemplateField,
} from "./fields";
import { hintsOf, isShown } from "./hints";
import { KeyValueField } from "./keyvalue";
import { ListField, ObjectField, RowsField } from "./lists";
import { Section } from "./parts";
import { SchemaField } from "./schema";

/** The field that fits a schema. */
export function AnyField(p: FieldProps) {
  const hints = hintsOf(p.schema);
  switch (hints.widget) {
    case "textarea":
    case "markdown":
      return <TemplateField {...p} language="template" lines={hints.lines || 4} />;
    case "code":
      return (
        <TemplateField
          {...p}
          language={p.schema["x-mode"] === "json" ? "json" : "code"}
          lines={hints.lines || 10}
        />
      );
    case "expression":
      return <TemplateField {...p} language="expression" lines={hints.lines || 1} />;
    case "json":
      return <JsonField {...p} />;
    case "number":
      return <NumberField {...p} />;
    case "switch":
      return <SwitchField {...p} />;
    case "select":
      return <SelectField {...p} />;
    case "keyvalue":
      return <KeyValueField {...p} />;
    case "rows":
      return <RowsField {...p} />;
    case "list":
      return <ListField {...p} />;
    case "object":
      return <ObjectField {...p} />;
    case "schema":
      return <SchemaField {...p} />;
    case "duration":
      return <DurationField {...p} />;
    case "choice":
      return <ChoiceField {...p} />;
    default:
      return <TemplateField {...p} language="template" lines={1} />;
  }
}

function isStray(schema: JsonObject, value: Json | undefined): boolean {
  return value !== undefined && hintsOf(schema).widget !== "hidden";
}

type ObjectProps = { schema: JsonObject; value: JsonObject; onChange: (v: JsonObject) => void; path: string };

/** Every field of an object; the advanced ones fold away. */
export function ObjectFields(p: ObjectProps) {
  const all = propertiesOf(p.schema);
  const siblings = Object.fromEntries(all);
  // What holds a value is shown even where its switch says otherwise: it could not be removed.
  const shown = all.filter(([name, s]) => isShown(s, p.value, siblings) || isStray(s, p.value[name]));
  const basic = shown.filter(([, s]) => !hintsOf(s).advanced);
  const advanced = shown.filter(([, s]) => hintsOf(s).advanced);
  const set = advanced.filter(([name]) => p.value[name] !== undefined).length;
  const required = requiredOf(p.schema);
  const field = ([name, s]: [string, JsonObject]) => (
    <AnyField
      key={name}
      schema={s}
      value={p.value[name]}
      path={`${p.path}.${name}`}
      label={titleOf(s, name)}
      required={required.has(name)}
      onChange={(v) => p.onChange(withField(p.value, name, v))}
    />
  );
  return (
    <>
      {basic.map(field)}
      {advanced.length > 0 && (
        <Advanced fields={advanced.map(([n]) => `${p.path}.${n}`)} set={set} body={advanced.map(field)} />
      )}
    </>
  );
}

function Advanced(p: { fields: string[]; set: number; body: React.ReactNode }) {
  const issues = useIssuesAt((p.fields[0] ?? "").replace(/\.[^.]*$/, ""), true);
  const broken = issues.some((i) => p.fields.some((f) => i.field.startsWith(f)));
  return (
    <Section title="More options" open={broken} {...(p.set > 0 ? { note: `${p.set} set` } : {})}>
      {p.body}
    </Section>
  );
}
