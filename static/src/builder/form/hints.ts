/** How a config field wants to be drawn: its schema's "x-ui". */

import { child, isObject, type JsonObject, text } from "../../graph/json";
import { mainType, typesOf } from "../../graph/schema";

export type Widget =
  | "text"
  | "textarea"
  | "markdown"
  | "code"
  | "expression"
  | "json"
  | "number"
  | "switch"
  | "select"
  | "keyvalue"
  | "rows"
  | "list"
  | "object"
  | "schema"
  | "duration"
  | "choice";

export type Hints = {
  widget: Widget;
  placeholder: string;
  help: string;
  /** Lists of things on the server that a text field names. */
  source: string;
  lines: number;
  advanced: boolean;
  hidden: boolean;
  language: string;
};

/** Widgets whose value is the name of something that the server lists. */
const sources = [
  "model",
  "recipe",
  "department",
  "user",
  "users",
  "workflow",
  "collection",
  "connection",
  "tool",
];

const named: Record<string, Widget> = {
  text: "text",
  string: "text",
  template: "text",
  textarea: "textarea",
  markdown: "markdown",
  code: "code",
  expression: "expression",
  condition: "expression",
  json: "json",
  value: "json",
  number: "number",
  switch: "switch",
  checkbox: "switch",
  select: "select",
  keyvalue: "keyvalue",
  key_value: "keyvalue",
  rows: "rows",
  list: "list",
  tags: "list",
  object: "object",
  schema: "schema",
  duration: "duration",
};

function byType(schema: JsonObject): Widget {
  if (Array.isArray(schema.enum)) return "select";
  if (schema["x-mode"] === "expression") return "expression";
  switch (mainType(schema)) {
    case "boolean":
      return "switch";
    case "number":
    case "integer":
      return "number";
    case "array":
      return "list";
    case "object":
      return isObject(schema.properties)
        ? "object"
        : isObject(schema.additionalProperties)
          ? "keyvalue"
          : "json";
    case "string":
      return "text";
    default:
      return typesOf(schema).length === 0 ? "json" : "text";
  }
}

export function hintsOf(schema: JsonObject): Hints {
  const ui = schema["x-ui"];
  const o = isObject(ui) ? ui : {};
  const name = typeof ui === "string" ? ui : text(o, "widget");
  const source = sources.includes(name) ? name : text(o, "source");
  const widget: Widget =
    named[name] ?? (source !== "" && mainType(schema) !== "array" ? "choice" : byType(schema));
  const lines = typeof o.lines === "number" ? o.lines : typeof o.rows === "number" ? o.rows : 0;
  return {
    widget,
    placeholder: text(o, "placeholder") || text(schema, "x-placeholder"),
    help: text(o, "help") || text(schema, "description"),
    source,
    lines,
    advanced: o.advanced === true || text(o, "section") === "advanced" || schema["x-advanced"] === true,
    hidden: o.hidden === true || name === "hidden",
    language: text(o, "language"),
  };
}

/** Whether a field is shown with the values that the form has. */
export function isShown(schema: JsonObject, config: JsonObject): boolean {
  const ui = schema["x-ui"];
  const when = child(schema, "x-show-if") ?? (isObject(ui) ? child(ui, "show_if") : undefined);
  if (when === undefined) return true;
  return Object.entries(when).every(([field, wanted]) => {
    const value = config[field] ?? null;
    return Array.isArray(wanted) ? wanted.includes(value) : wanted === value;
  });
}
