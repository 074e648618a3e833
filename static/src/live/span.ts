/** What the server tells about a run: engine.Span, the run itself, and their parts. */

import { child, isNumber, isObject, type Json, type JsonObject, text } from "../graph/json";

export type SpanKind = "run" | "step" | "iteration" | "attempt";

export type StepError = { code: string; message: string; address: string; attempts: number };

export type Usage = {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  model_calls: number;
  /** Millionths of a US dollar. */
  cost_micros: number;
};

export type Span = {
  id: string;
  parent_id: string;
  seq: number;
  kind: SpanKind;
  name: string;
  node_id: string;
  node_type: string;
  address: string;
  round: number;
  attempt: number;
  status: string;
  /** Milliseconds since 1970; NaN while it has not begun or ended. */
  start: number;
  end: number;
  /** undefined where the span has none; null is a value. */
  input: Json | undefined;
  output: Json | undefined;
  error: StepError | null;
  usage: Usage;
  attributes: JsonObject;
};

export type RunStatus =
  | "queued"
  | "running"
  | "pending_approval"
  | "waiting"
  | "succeeded"
  | "failed"
  | "rejected"
  | "cancelled";

export type Run = {
  id: string;
  workflow_id: string;
  workflow_name: string;
  /** 0 is a draft that was never published. */
  version: number;
  status: RunStatus | "";
  input: Json | undefined;
  output: Json | undefined;
  error: StepError | null;
  usage: Usage;
  started_by: string;
  parent_run_id: string;
  created: number;
  start: number;
  end: number;
  variables: Json | undefined;
};

const spanKinds: readonly SpanKind[] = ["run", "step", "iteration", "attempt"];
const runStatuses: readonly RunStatus[] = [
  "queued",
  "running",
  "pending_approval",
  "waiting",
  "succeeded",
  "failed",
  "rejected",
  "cancelled",
];

/** Whether a run's status is final. */
export function isOver(status: string): boolean {
  return status === "succeeded" || status === "failed" || status === "rejected" || status === "cancelled";
}

/**
 * A time of the server in milliseconds, with the microseconds that Date.parse drops.
 * NaN for none; Go's zero time counts as none.
 */
export function timeOf(v: Json | undefined): number {
  if (typeof v !== "string" || v === "" || v.startsWith("0001-")) return Number.NaN;
  const beyond = /\.\d{3}(\d{1,3})/.exec(v)?.[1] ?? "";
  return Date.parse(v) + Number(beyond.padEnd(3, "0")) / 1_000;
}

export function count(v: Json | undefined): number {
  return isNumber(v) ? Number(v) : 0;
}

export function decodeUsage(v: Json | undefined): Usage {
  const o = isObject(v) ? v : {};
  return {
    input_tokens: count(o.input_tokens),
    output_tokens: count(o.output_tokens),
    cached_tokens: count(o.cached_tokens),
    model_calls: count(o.model_calls),
    cost_micros: count(o.cost_micros),
  };
}

export function decodeError(v: Json | undefined): StepError | null {
  if (typeof v === "string" && v !== "") return { code: "", message: v, address: "", attempts: 0 };
  if (!isObject(v)) return null;
  const error = {
    code: text(v, "code"),
    message: text(v, "message"),
    address: text(v, "address"),
    attempts: count(v.attempts),
  };
  return error.code === "" && error.message === "" ? null : error;
}

/** Reads a span; null for what is none. */
export function decodeSpan(v: Json): Span | null {
  if (!isObject(v) || typeof v.id !== "string" || v.id === "") return null;
  const kind = spanKinds.find((k) => k === v.kind);
  if (kind === undefined) return null;
  return {
    id: v.id,
    parent_id: text(v, "parent_id"),
    seq: count(v.seq),
    kind,
    name: text(v, "name"),
    node_id: text(v, "node_id"),
    node_type: text(v, "node_type"),
    address: text(v, "address"),
    round: count(v.round),
    attempt: count(v.attempt),
    status: text(v, "status"),
    start: timeOf(v.started_at),
    end: timeOf(v.ended_at),
    input: v.input,
    output: v.output,
    error: decodeError(v.error),
    usage: decodeUsage(v.usage),
    attributes: child(v, "attributes") ?? {},
  };
}

export function decodeSpans(v: Json | undefined): Span[] {
  return Array.isArray(v) ? v.map(decodeSpan).filter((s) => s !== null) : [];
}

/** People come as a name or as an object. */
function person(v: Json | undefined): string {
  if (typeof v === "string") return v;
  return isObject(v) ? text(v, "name") || text(v, "email") || text(v, "id") : "";
}

/** Reads a run; null for what is none. */
export function decodeRun(v: Json | undefined): Run | null {
  if (!isObject(v) || typeof v.id !== "string") return null;
  return {
    id: v.id,
    workflow_id: text(v, "workflow_id"),
    workflow_name: text(v, "workflow_name"),
    version: count(v.version),
    status: runStatuses.find((s) => s === v.status) ?? "",
    input: v.input,
    output: v.output,
    error: decodeError(v.error),
    usage: decodeUsage(v.usage),
    started_by: person(v.started_by),
    parent_run_id: text(v, "parent_run_id"),
    created: timeOf(v.created_at),
    start: timeOf(v.started_at),
    end: timeOf(v.ended_at),
    variables: v.variables,
  };
}
