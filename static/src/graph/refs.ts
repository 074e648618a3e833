/**
 * References to steps inside templates and expressions, rewritten when an id
 * changes: step.<id>, loop.<id>, _node_<id>, step["<id>"].
 */

import { isObject, type Json, type JsonObject, RawNumber } from "./json";
import { below, itemsOf } from "./schema";

export type Renames = ReadonlyMap<string, string>;

const word = /[\p{L}\p{N}_]/u;

/** The longest known id at an offset that ends at a word boundary, or "". */
function idAt(source: string, at: number, ids: Iterable<string>): string {
  let best = "";
  for (const id of ids) {
    if (id.length > best.length && source.startsWith(id, at) && !word.test(source[at + id.length] ?? ""))
      best = id;
  }
  return best;
}

const prefix = /(?:\b(?:step|loop)(?:\.|\[\s*["'])|\b_node_)/uy;

/**
 * Rewrites the references of one expression. Ids lists every id of the document:
 * "step.legal-note" is no reference to "legal" while "legal-note" exists.
 */
export function renameInExpression(source: string, renames: Renames, ids: Iterable<string>): string {
  const known = [...new Set([...ids, ...renames.keys()])];
  let out = "";
  let quote = "";
  for (let at = 0; at < source.length; ) {
    const c = source[at] ?? "";
    if (quote !== "") {
      const width = c === "\\" ? 2 : 1;
      out += source.slice(at, at + width);
      if (c === quote) quote = "";
      at += width;
      continue;
    }
    prefix.lastIndex = at;
    const before = source[at - 1] ?? "";
    const m = word.test(before) || before === "." ? null : prefix.exec(source);
    if (m !== null) {
      const id = idAt(source, at + m[0].length, known);
      out += m[0] + (renames.get(id) ?? id);
      at += m[0].length + id.length;
      // step["id"] leaves its closing quote to be copied as it is.
      if (/["']$/.test(m[0])) {
        out += source[at] ?? "";
        at++;
      }
      continue;
    }
    if (c === '"' || c === "'" || c === "`") quote = c;
    out += c;
    at++;
  }
  return out;
}

/** Rewrites the references inside the {{ }} of a text. */
export function renameInTemplate(source: string, renames: Renames, ids: Iterable<string>): string {
  if (!source.includes("{{")) return source;
  return source.replace(
    /\{\{([\s\S]*?)\}\}/g,
    (_, inner: string) => `{{${renameInExpression(inner, renames, ids)}}}`,
  );
}

/** The schema of a property: declared, or what further properties have. */
function propertyOf(schema: JsonObject, key: string): JsonObject {
  const properties = schema.properties;
  const declared = isObject(properties) ? properties[key] : undefined;
  return below(schema, declared ?? schema.additionalProperties);
}

/** Rewrites every string of a config by the mode that its schema gives. */
export function renameInConfig<T extends Json>(
  value: T,
  schema: JsonObject,
  renames: Renames,
  ids: Iterable<string>,
): T;
export function renameInConfig(
  value: Json,
  schema: JsonObject,
  renames: Renames,
  ids: Iterable<string>,
): Json {
  if (typeof value === "string") {
    const mode = schema["x-mode"];
    if (mode === "expression") return renameInExpression(value, renames, ids);
    return mode === "literal" ? value : renameInTemplate(value, renames, ids);
  }
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return value.map((v) => renameInConfig<Json>(v, items, renames, ids));
  }
  if (value === null || typeof value !== "object" || value instanceof RawNumber) return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, renameInConfig<Json>(v, propertyOf(schema, k), renames, ids)]),
  );
}
