/** What the server tells about a kind of node: engine.Spec. */

import type { FlowNode } from "./definition";
import { child, isObject, type Json, type JsonObject, list, text } from "./json";

export type Class = "pure" | "effect" | "park" | "container";
export type ContainerKind = "loop" | "parallel" | "branch";
export type Tone = "" | "success" | "danger" | "warning";
export type Handle = { id: string; label: string; tone: Tone };

export type Spec = {
  type: string;
  title: string;
  group: string;
  icon: string;
  summary: string;
  class: Class;
  container: ContainerKind | "";
  handles: readonly Handle[];
  no_output: boolean;
  handles_from: string;
  result_key: string;
  config: JsonObject;
  output: JsonObject | null;
};

export type Kinds = ReadonlyMap<string, Spec>;

const classes: readonly Class[] = ["pure", "effect", "park", "container"];
const containers: readonly ContainerKind[] = ["loop", "parallel", "branch"];
const tones: readonly Tone[] = ["", "success", "danger", "warning"];

function decodeHandle(v: Json): Handle | null {
  if (!isObject(v) || typeof v.id !== "string" || v.id === "") return null;
  return { id: v.id, label: text(v, "label") || v.id, tone: tones.find((t) => t === v.tone) ?? "" };
}

function handles(values: Json[]): Handle[] {
  return values.map(decodeHandle).filter((h) => h !== null);
}

export function decodeSpec(v: Json): Spec {
  if (!isObject(v) || typeof v.type !== "string") throw new Error("a kind without a type");
  return {
    type: v.type,
    title: text(v, "title") || v.type,
    group: text(v, "group") || "Other",
    icon: text(v, "icon"),
    summary: text(v, "summary"),
    class: classes.find((c) => c === v.class) ?? "effect",
    container: containers.find((c) => c === v.container) ?? "",
    handles: handles(list(v, "handles")),
    no_output: v.no_output === true,
    handles_from: text(v, "handles_from"),
    result_key: text(v, "result_key"),
    config: child(v, "config") ?? {},
    output: child(v, "output") ?? null,
  };
}

/** Reads the answer of GET /kinds. */
export function decodeKinds(v: Json): Map<string, Spec> {
  const specs = list(isObject(v) ? v : undefined, "kinds").map(decodeSpec);
  return new Map(specs.map((s) => [s.type, s]));
}

/** A kind that the server does not know is drawn all the same. */
export function specOf(kinds: Kinds, type: string): Spec {
  return (
    kinds.get(type) ?? {
      type,
      title: type || "Unknown",
      group: "Unknown",
      icon: "circle-help",
      summary: "The server does not know this kind.",
      class: "effect",
      container: "",
      handles: [],
      no_output: false,
      handles_from: "",
      result_key: "",
      config: {},
      output: null,
    }
  );
}

export const errorHandle: Handle = { id: "error", label: "on error", tone: "danger" };

/** The entries that a config field adds; the schema's default where it is absent. */
function configHandles(spec: Spec, config: JsonObject): Handle[] {
  if (spec.handles_from === "") return [];
  const value = config[spec.handles_from];
  const fallback = child(child(spec.config, "properties"), spec.handles_from)?.default;
  const entries = Array.isArray(value) && value.length > 0 ? value : Array.isArray(fallback) ? fallback : [];
  return handles(entries);
}

/** The outputs of a node as the canvas draws them. One unnamed output is id "". */
export function handlesOf(spec: Spec, node: Pick<FlowNode, "config" | "on_error">): Handle[] {
  if (spec.no_output) return [];
  const own = configHandles(spec, node.config);
  const known = new Set(own.map((h) => h.id));
  const all = [...own, ...spec.handles.filter((h) => !known.has(h.id))];
  if (all.length === 0) all.push({ id: "", label: "", tone: "" });
  if (node.on_error === "branch") all.push(errorHandle);
  return all;
}

/** The trigger starts a workflow: nothing leads into it. Branches start with their parallel. */
export function hasInput(spec: Spec): boolean {
  return spec.type !== "trigger" && spec.container !== "branch";
}

/** Branches are joined by their parallel, so they have no outputs either. */
export function hasOutput(spec: Spec): boolean {
  return !spec.no_output && spec.container !== "branch";
}

/** Kinds whose unnamed edges are taken whichever handle is chosen. */
export function takesAny(spec: Spec): boolean {
  return spec.type === "condition" || spec.type === "switch";
}

/** The handle that an edge leaves by, with the default filled in. */
export function resolvedHandle(spec: Spec, node: FlowNode, handle: string): string {
  if (handle !== "" || takesAny(spec)) return handle;
  return handlesOf(spec, node)[0]?.id ?? "";
}
