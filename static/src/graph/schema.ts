/** Reading JSON Schemas for forms: what to draw for a value, and whether it fits. */

import { child, equal, isNumber, isObject, type Json, type JsonObject, list, text } from "./json";

export type SchemaType = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** The types that a schema allows; empty when it does not say. */
export function typesOf(schema: JsonObject): SchemaType[] {
  const t = schema.type;
  if (typeof t === "string") return [t as SchemaType];
  if (Array.isArray(t)) return t.filter((x) => typeof x === "string") as SchemaType[];
  if (isObject(schema.properties)) return ["object"];
  if (isObject(schema.items)) return ["array"];
  return [];
}

/** The type a form draws: the first that is not null. */
export function mainType(schema: JsonObject): SchemaType | "" {
  const types = typesOf(schema).filter((t) => t !== "null");
  return types.length === 1 || (types.length === 2 && types.includes("string"))
    ? (types.find((t) => t !== "string") ?? types[0] ?? "")
    : "";
}

/** What holds for everything below a schema, unless it is said again there. */
const inherited = ["x-mode", "x-secret"];

/** A schema inside of another one, with what it takes over. */
export function below(parent: JsonObject, v: Json | undefined): JsonObject {
  const own = isObject(v) ? v : {};
  const over = inherited.filter((k) => own[k] === undefined && parent[k] !== undefined);
  return over.length === 0 ? own : { ...own, ...Object.fromEntries(over.map((k) => [k, parent[k] ?? null])) };
}

export function propertiesOf(schema: JsonObject): [string, JsonObject][] {
  const properties = child(schema, "properties") ?? {};
  return Object.entries(properties).map(([k, v]) => [k, below(schema, v)]);
}

export function itemsOf(schema: JsonObject): JsonObject {
  return below(schema, schema.items);
}

export function requiredOf(schema: JsonObject): Set<string> {
  return new Set(list(schema, "required").filter((x): x is string => typeof x === "string"));
}

/** The title of a field: the schema's, or its name in words. */
export function titleOf(schema: JsonObject, name: string): string {
  const title = text(schema, "title");
  if (title !== "") return title;
  const words = name.replace(/_/g, " ").replace(/\bms\b/, "(ms)");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Where a form starts from: defaults, then empty values for what is required. */
export function initialValue(schema: JsonObject): Json | undefined {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (mainType(schema) !== "object") return undefined;
  const out: JsonObject = {};
  for (const [name, s] of propertiesOf(schema)) {
    const v = initialValue(s);
    if (v !== undefined) out[name] = v;
  }
  return out;
}

/** The defaults of required fields: what a new step starts with. */
export function requiredDefaults(schema: JsonObject): JsonObject {
  const required = requiredOf(schema);
  const fields = propertiesOf(schema).flatMap(([name, s]) =>
    required.has(name) && s.default !== undefined ? [[name, s.default] as const] : [],
  );
  return Object.fromEntries(fields);
}

/** What a value of a schema looks like: shown where JSON is to be typed. */
export function example(schema: JsonObject, depth = 5): Json {
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  switch (depth > 0 ? mainType(schema) : "") {
    case "object":
      return Object.fromEntries(propertiesOf(schema).map(([name, s]) => [name, example(s, depth - 1)]));
    case "array":
      return [example(itemsOf(schema), depth - 1)];
    case "number":
    case "integer":
      return 0;
    case "boolean":
      return false;
    case "string":
      return "…";
    default:
      return null;
  }
}

function typeOf(v: Json): SchemaType {
  if (v === null) return "null";
  if (isNumber(v)) return /^-?\d+$/.test(String(v)) || Number.isInteger(Number(v)) ? "integer" : "number";
  if (Array.isArray(v)) return "array";
  if (isObject(v)) return "object";
  return typeof v as "string" | "boolean";
}

export type Mismatch = { path: string; message: string };

const words: Record<SchemaType, string> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  object: "an object",
  array: "a list",
  null: "null",
};

function checkNumber(s: JsonObject, v: number): string | null {
  if (isNumber(s.minimum) && v < Number(s.minimum)) return `At least ${s.minimum}`;
  if (isNumber(s.maximum) && v > Number(s.maximum)) return `At most ${s.maximum}`;
  if (isNumber(s.exclusiveMinimum) && v <= Number(s.exclusiveMinimum))
    return `More than ${s.exclusiveMinimum}`;
  if (isNumber(s.exclusiveMaximum) && v >= Number(s.exclusiveMaximum))
    return `Less than ${s.exclusiveMaximum}`;
  return null;
}

function checkString(s: JsonObject, v: string): string | null {
  const length = [...v].length;
  if (isNumber(s.minLength) && length < Number(s.minLength)) {
    return length === 0 ? "Required" : `At least ${s.minLength} characters`;
  }
  if (isNumber(s.maxLength) && length > Number(s.maxLength)) return `At most ${s.maxLength} characters`;
  if (typeof s.pattern !== "string") return null;
  try {
    return new RegExp(s.pattern, "u").test(v) ? null : `Must match ${s.pattern}`;
  } catch {
    return null; // A pattern of another dialect is the server's to judge.
  }
}

/**
 * The mismatches that a form can show while it is filled in. The server has the
 * last word: what is not understood here passes.
 */
export function mismatches(schema: JsonObject, v: Json, path = ""): Mismatch[] {
  const at = (message: string): Mismatch[] => [{ path, message }];
  const types = typesOf(schema);
  const t = typeOf(v);
  const fits = types.length === 0 || types.includes(t) || (t === "integer" && types.includes("number"));
  if (!fits) return at(`Must be ${types.map((x) => words[x] ?? x).join(" or ")}`);
  if (Array.isArray(schema.enum) && !schema.enum.some((e) => equal(e, v)))
    return at("Choose one of the values");
  if (isNumber(v)) {
    const m = checkNumber(schema, Number(v));
    return m === null ? [] : at(m);
  }
  if (typeof v === "string") {
    const m = checkString(schema, v);
    return m === null ? [] : at(m);
  }
  if (Array.isArray(v)) return checkArray(schema, v, path);
  return isObject(v) ? checkObject(schema, v, path) : [];
}

function checkArray(schema: JsonObject, v: Json[], path: string): Mismatch[] {
  const out: Mismatch[] = [];
  if (isNumber(schema.minItems) && v.length < Number(schema.minItems)) {
    out.push({ path, message: `At least ${schema.minItems} entries` });
  }
  if (isNumber(schema.maxItems) && v.length > Number(schema.maxItems)) {
    out.push({ path, message: `At most ${schema.maxItems} entries` });
  }
  const items = schema.items;
  if (isObject(items)) for (const [i, x] of v.entries()) out.push(...mismatches(items, x, `${path}[${i}]`));
  return out;
}

function checkObject(schema: JsonObject, v: JsonObject, path: string): Mismatch[] {
  const out: Mismatch[] = [];
  const join = (name: string) => (path === "" ? name : `${path}.${name}`);
  const known = new Map(propertiesOf(schema));
  for (const name of requiredOf(schema)) {
    if (v[name] === undefined) out.push({ path: join(name), message: "Required" });
  }
  for (const [name, x] of Object.entries(v)) {
    const s = known.get(name);
    if (s) out.push(...mismatches(s, x, join(name)));
    else if (schema.additionalProperties === false)
      out.push({ path: join(name), message: "Not expected here" });
  }
  return out;
}

/** Sets or removes a field. */
export function withField(o: JsonObject, name: string, v: Json | undefined): JsonObject {
  if (v !== undefined) return { ...o, [name]: v };
  return Object.fromEntries(Object.entries(o).filter(([k]) => k !== name));
}
