/** The workflow document, as engine.Definition encodes it. Values are never mutated. */

import { isNumber, isObject, type Json, type JsonObject, text } from "./json";

export const format = "sluice/v1";

export type OnError = "stop" | "continue" | "branch";
export type OnInterrupt = "retry" | "fail" | "ask";

export type Position = { x: number; y: number; width?: number; height?: number; extra?: JsonObject };

export type RetryPolicy = { max_attempts: number; base_ms?: number; max_ms?: number };

export type FlowNode = {
  id: string;
  type: string;
  label: string;
  /** The container whose body the node is in; "" is the workflow itself. */
  parent: string;
  config: JsonObject;
  on_error: OnError | "";
  retry: RetryPolicy | null;
  timeout_ms: number;
  on_interrupt: OnInterrupt | "";
  position: Position | null;
  notes: string;
  /** Fields this version does not know, kept as they are. */
  extra: JsonObject;
};

export type FlowEdge = {
  /** Names the edge while it is edited; not part of the document. */
  key: string;
  source: string;
  target: string;
  handle: string;
  condition: string;
  extra: JsonObject;
};

export type Definition = {
  name: string;
  description: string;
  input_schema: Json;
  variables: JsonObject | null;
  nodes: readonly FlowNode[];
  edges: readonly FlowEdge[];
  extra: JsonObject;
};

/** A document that can't be read as a definition. */
export class DecodeError extends Error {}

const nodeFields = new Set([
  "id",
  "type",
  "label",
  "parent",
  "config",
  "on_error",
  "retry",
  "timeout_ms",
  "on_interrupt",
  "position",
  "notes",
]);
const edgeFields = new Set(["source", "target", "handle", "condition"]);
const documentFields = new Set([
  "format",
  "name",
  "description",
  "input_schema",
  "variables",
  "nodes",
  "edges",
]);

function rest(o: JsonObject, known: Set<string>): JsonObject {
  return Object.fromEntries(Object.entries(o).filter(([k]) => !known.has(k)));
}

function numberOr(v: Json | undefined, fallback: number): number {
  return isNumber(v) ? Number(v) : fallback;
}

/** Ids may be numbers in hand-written files; they are text here. */
function id(v: Json | undefined, where: string): string {
  if (typeof v === "string") return v;
  if (isNumber(v)) return String(v);
  throw new DecodeError(`${where} must be text`);
}

const positionFields = new Set(["x", "y", "width", "height"]);

function decodePosition(v: Json | undefined): Position | null {
  if (!isObject(v)) return null;
  const p: Position = { x: numberOr(v.x, 0), y: numberOr(v.y, 0) };
  if (isNumber(v.width)) p.width = Number(v.width);
  if (isNumber(v.height)) p.height = Number(v.height);
  const extra = rest(v, positionFields);
  if (Object.keys(extra).length > 0) p.extra = extra;
  return p;
}

function decodeRetry(v: Json | undefined): RetryPolicy | null {
  if (!isObject(v)) return null;
  const r: RetryPolicy = { max_attempts: numberOr(v.max_attempts, 3) };
  if (isNumber(v.base_ms)) r.base_ms = Number(v.base_ms);
  if (isNumber(v.max_ms)) r.max_ms = Number(v.max_ms);
  return r;
}

function oneOf<T extends string>(v: Json | undefined, values: readonly T[]): T | "" {
  return values.find((x) => x === v) ?? "";
}

function decodeNode(v: Json, index: number): FlowNode {
  if (!isObject(v)) throw new DecodeError(`nodes[${index}] must be an object`);
  return {
    id: id(v.id, `nodes[${index}].id`),
    type: text(v, "type"),
    label: text(v, "label"),
    parent: v.parent === undefined || v.parent === null ? "" : id(v.parent, `nodes[${index}].parent`),
    config: isObject(v.config) ? v.config : {},
    on_error: oneOf(v.on_error, ["stop", "continue", "branch"] as const),
    retry: decodeRetry(v.retry),
    timeout_ms: numberOr(v.timeout_ms, 0),
    on_interrupt: oneOf(v.on_interrupt, ["retry", "fail", "ask"] as const),
    position: decodePosition(v.position),
    notes: text(v, "notes"),
    extra: rest(v, nodeFields),
  };
}

function decodeEdge(v: Json, index: number): FlowEdge {
  if (!isObject(v)) throw new DecodeError(`edges[${index}] must be an object`);
  return {
    key: `e${index}`,
    source: id(v.source, `edges[${index}].source`),
    target: id(v.target, `edges[${index}].target`),
    handle: text(v, "handle"),
    condition: text(v, "condition"),
    extra: rest(v, edgeFields),
  };
}

/** Reads a canonical definition, as the server sends it. Throws DecodeError. */
export function decodeDefinition(v: Json): Definition {
  if (!isObject(v)) throw new DecodeError("a workflow must be an object");
  if (!Array.isArray(v.nodes)) throw new DecodeError("a workflow needs a list of nodes");
  if (v.edges !== undefined && v.edges !== null && !Array.isArray(v.edges)) {
    throw new DecodeError("edges must be a list");
  }
  return {
    name: text(v, "name"),
    description: text(v, "description"),
    input_schema: v.input_schema ?? null,
    variables: isObject(v.variables) ? v.variables : null,
    nodes: v.nodes.map(decodeNode),
    edges: (v.edges ?? []).map(decodeEdge),
    extra: rest(v, documentFields),
  };
}

/** Drops what is absent, so that the export has no empty fields. */
function compact(fields: [string, Json | undefined][]): JsonObject {
  return Object.fromEntries(
    fields.filter((f): f is [string, Json] => f[1] !== undefined && f[1] !== "" && f[1] !== null),
  );
}

function encodeNode(n: FlowNode): JsonObject {
  return {
    id: n.id,
    type: n.type,
    ...compact([
      ["label", n.label],
      ["parent", n.parent],
    ]),
    config: n.config,
    ...compact([
      ["on_error", n.on_error],
      ["retry", n.retry && { ...n.retry }],
      ["timeout_ms", n.timeout_ms || undefined],
      ["on_interrupt", n.on_interrupt],
      ["position", n.position && encodePosition(n.position)],
      ["notes", n.notes],
    ]),
    ...n.extra,
  };
}

function encodePosition({ extra, ...p }: Position): JsonObject {
  return { ...p, ...extra };
}

function encodeEdge(e: FlowEdge): JsonObject {
  return {
    source: e.source,
    target: e.target,
    ...compact([
      ["handle", e.handle],
      ["condition", e.condition],
    ]),
    ...e.extra,
  };
}

/** The canonical document. */
export function encodeDefinition(d: Definition): JsonObject {
  return {
    format,
    ...compact([
      ["name", d.name],
      ["description", d.description],
      ["input_schema", d.input_schema],
      ["variables", d.variables],
    ]),
    nodes: d.nodes.map(encodeNode),
    edges: d.edges.map(encodeEdge),
    ...d.extra,
  };
}

export function emptyDefinition(name = ""): Definition {
  return { name, description: "", input_schema: null, variables: null, nodes: [], edges: [], extra: {} };
}

export function newNode(fields: Partial<FlowNode> & { id: string; type: string }): FlowNode {
  return {
    label: "",
    parent: "",
    config: {},
    on_error: "",
    retry: null,
    timeout_ms: 0,
    on_interrupt: "",
    position: null,
    notes: "",
    extra: {},
    ...fields,
  };
}
