/**
 * How a config field wants to be drawn: its schema's "x-ui", whose words the
 * package docs of engine/nodes explain.
 */

import { child, isObject, type JsonObject, text } from "../../graph/json";
import { mainType, typesOf } from "../../graph/schema";

/** Widgets that are drawn by what their value is. */
const plain = [
  "text",
  "textarea",
  "markdown",
  "code",
  "expression",
  "json",
  "number",
  "switch",
  "select",
  "keyvalue",
  "rows",
  "list",
  "object",
  "schema",
  "duration",
  "hidden",
] as const;

/** Widgets whose value names something that the server lists. */
const sources = ["model", "recipe", "department", "users", "workflow", "collection", "connection", "tool"];

export type Widget = (typeof plain)[number] | "choice";

export type Hints = {
  widget: Widget;
  placeholder: string;
  help: string;
  /** What a choice can be made of: "recipe", "users", …; "" for none. */
  source: string;
  /** Height in lines; 0 leaves it to the widget. */
  lines: number;
  advanced: boolean;
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
      return isObject(schema.properties) ? "object" : schema.additionalProperties ? "keyvalue" : "json";
    case "string":
      return "text";
    default:
      return typesOf(schema).length === 0 ? "json" : "text";
  }
}

export function hintsOf(schema: JsonObject): Hints {
  const ui = child(schema, "x-ui") ?? {};
  const name = text(ui, "widget");
  const source = sources.includes(name) ? name : "";
  const many = mainType(schema) === "array";
  return {
    widget: plain.find((w) => w === name) ?? (source !== "" && !many ? "choice" : byType(schema)),
    placeholder: text(ui, "placeholder"),
    help: text(schema, "description"),
    source,
    lines: typeof ui.rows === "number" ? ui.rows : 0,
    advanced: ui.advanced === true,
  };
}

/** Whether a field is shown with the values that the form has, defaults included. */
export function isShown(schema: JsonObject, config: JsonObject, siblings: JsonObject): boolean {
  if (hintsOf(schema).widget === "hidden") return false;
  const when = child(child(schema, "x-ui"), "show_if") ?? {};
  return Object.entries(when).every(([field, wanted]) => {
    const value = config[field] ?? child(siblings, field)?.default ?? null;
    return Array.isArray(wanted) ? wanted.includes(value) : wanted === value;
  });
}
