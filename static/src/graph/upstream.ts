/** What a node can refer to: the steps before it, the loops around it, inputs and variables. */

import type { Definition } from "./definition";
import { child, isObject, type Json, type JsonObject, text } from "./json";
import { type Kinds, specOf } from "./spec";
import { ancestors, nodeById } from "./tree";

/** The nodes of its body that lead to a node, nearest first. */
function before(d: Definition, id: string): string[] {
  const out: string[] = [];
  const seen = new Set([id]);
  let front = [id];
  while (front.length > 0) {
    const next: string[] = [];
    for (const e of d.edges) {
      if (front.includes(e.target) && !seen.has(e.source)) {
        seen.add(e.source);
        next.push(e.source);
      }
    }
    out.push(...next);
    front = next;
  }
  return out;
}

/** Every step whose output a node may read, nearest first: its own body, then outwards. */
export function upstreamOf(d: Definition, id: string): string[] {
  const scopes = [id, ...ancestors(d, id).map((a) => a.id)];
  return scopes.flatMap((s) => before(d, s));
}

/** The loops around a node, innermost first. */
export function loopsAround(d: Definition, kinds: Kinds, id: string): string[] {
  return ancestors(d, id)
    .filter((a) => specOf(kinds, a.type).container === "loop")
    .map((a) => a.id);
}

export type Suggestion = {
  /** What is inserted between the braces. */
  path: string;
  detail: string;
  group: "step" | "input" | "variable" | "loop" | "run";
};

/** The fields of an object schema, two levels deep. */
function fieldsOf(schema: JsonObject | null, base: string, depth = 2): { path: string; detail: string }[] {
  const properties = child(schema ?? undefined, "properties");
  if (properties === undefined || depth === 0) return [];
  return Object.entries(properties).flatMap(([name, s]: [string, Json]) => {
    const own = isObject(s) ? s : {};
    const path = /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name) ? `${base}.${name}` : `${base}["${name}"]`;
    return [{ path, detail: text(own, "title") || text(own, "type") }, ...fieldsOf(own, path, depth - 1)];
  });
}

/** Output fields whose schema is a setting of the step: a model's answer, an approver's form. */
const promises = [
  ["json", "output"],
  ["data", "schema"],
] as const;

function stepSuggestions(d: Definition, kinds: Kinds, id: string): Suggestion[] {
  const node = nodeById(d, id);
  if (node === undefined) return [];
  const spec = specOf(kinds, node.type);
  const base = `step.${id}`;
  const title = node.label || spec.title;
  let schema = spec.output;
  // What a step promises in its own settings is better than what its kind promises.
  for (const [field, setting] of promises) {
    const own = child(node.config, setting);
    const properties = child(schema ?? undefined, "properties");
    if (own !== undefined && properties?.[field] !== undefined) {
      schema = { properties: { ...properties, [field]: own } };
    }
  }
  if (spec.type === "trigger") schema = isObject(d.input_schema) ? d.input_schema : null;
  if (spec.type === "set") {
    const values = child(node.config, "values") ?? {};
    schema = { properties: Object.fromEntries(Object.keys(values).map((k) => [k, {}])) };
  }
  return [
    { path: base, detail: title, group: "step" },
    ...fieldsOf(schema, base).map(
      (f): Suggestion => ({ path: f.path, detail: f.detail || title, group: "step" }),
    ),
  ];
}

/** Variables that the workflow declares or that some "set" assigns. */
export function variableNames(d: Definition): string[] {
  const names = new Set(Object.keys(d.variables ?? {}));
  for (const n of d.nodes) for (const k of Object.keys(child(n.config, "variables") ?? {})) names.add(k);
  return [...names];
}

/** All that can stand between {{ and }} at a node, nearest first. */
export function suggestionsAt(d: Definition, kinds: Kinds, id: string): Suggestion[] {
  const loops = loopsAround(d, kinds, id);
  const schema = isObject(d.input_schema) ? d.input_schema : null;
  const loop = loops.flatMap((l, depth): Suggestion[] => {
    const title = nodeById(d, l)?.label || l;
    const outer = ["item", "index"].map(
      (f): Suggestion => ({ path: `loop.${l}.${f}`, detail: title, group: "loop" }),
    );
    if (depth > 0) return outer;
    return [
      { path: "loop_item", detail: `item of ${title}`, group: "loop" },
      { path: "loop_index", detail: `from 0, in ${title}`, group: "loop" },
      ...outer,
    ];
  });
  return [
    ...loop,
    ...upstreamOf(d, id).flatMap((s) => stepSuggestions(d, kinds, s)),
    { path: "workflow_input", detail: "the run's input", group: "input" },
    ...fieldsOf(schema, "workflow_input").map((f): Suggestion => ({ ...f, group: "input" })),
    ...variableNames(d).map((v): Suggestion => ({ path: v, detail: "variable", group: "variable" })),
    { path: "run.id", detail: "the run's id", group: "run" },
    { path: "run.started_at", detail: "when it started", group: "run" },
  ];
}
