/** One line about what a node is set to do, for the canvas. */

import type { FlowNode } from "./definition";
import { child, isObject, type Json, type JsonObject, RawNumber, stringify } from "./json";
import type { Spec } from "./spec";

/** Fields that say most about a step, when its schema does not name one with x-ui-summary. */
const telling = [
  "expression",
  "prompt",
  "collection",
  "while",
  "times",
  "recipe",
  "title",
  "url",
  "tool",
  "department",
  "to",
  "workflow",
  "query",
  "duration",
  "until",
  "value",
  "values",
  "code",
  "output",
];

function short(v: Json): string {
  if (typeof v === "string") return v.replace(/\s+/g, " ").trim();
  if (v instanceof RawNumber || typeof v === "number") return String(v);
  if (Array.isArray(v)) return v.length === 0 ? "" : `${v.length} ${v.length === 1 ? "entry" : "entries"}`;
  if (isObject(v)) return Object.keys(v).join(", ");
  return v === null ? "" : stringify(v);
}

function rule(v: Json): string {
  if (!isObject(v) || v.left === undefined) return "";
  return [v.left, v.operator, v.right]
    .filter((x) => x !== undefined)
    .map((x) => short(x ?? ""))
    .join(" ");
}

/** The text under a node's title; "" when there is nothing to tell. */
export function summaryOf(spec: Spec, node: FlowNode): string {
  const c: JsonObject = node.config;
  if (typeof c.method === "string" && typeof c.url === "string") return `${c.method} ${short(c.url)}`;
  const { rows } = c;
  if (!c.expression && Array.isArray(rows)) {
    const joined = rows.map(rule).filter((r) => r !== "");
    if (joined.length > 0) return joined.join(c.match === "any" ? " or " : " and ");
  }
  const properties = child(spec.config, "properties") ?? {};
  // What becomes outputs is drawn as outputs.
  const names = [...telling, ...Object.keys(properties)].filter((f) => f in c && f !== spec.handles_from);
  for (const f of names) {
    const line = short(c[f] ?? null);
    if (line !== "") return line.slice(0, 160);
  }
  return "";
}
