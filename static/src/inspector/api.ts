/** The JSON API as the inspector uses it. */

import { type Definition, decodeDefinition } from "../graph/definition";
import { decodeIssues, type Issue } from "../graph/issue";
import { isObject, type Json, type JsonObject, list, parse, stringify, text } from "../graph/json";
import { decodeKinds, type Spec } from "../graph/spec";
import { parseExact } from "../live/exact";
import {
  count,
  decodeError,
  decodeRun,
  decodeSpans,
  type Run,
  type Span,
  type StepError,
  timeOf,
} from "../live/span";

/** An answer that is no success: RFC 9457. Status 0 is no answer at all. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    title: string,
    detail: string,
    readonly issues: Issue[],
  ) {
    super(detail || title);
  }
}

type Options = { method?: string; body?: Json; headers?: Record<string, string> };

/** When the server's clock was last heard, as the difference to ours in milliseconds. */
let skew = 0;

/** The server's time, as well as it is known. Spans carry times of its clock. */
export function serverNow(): number {
  return Date.now() + skew;
}

/** A Date header tells whole seconds; a smaller difference may be none. */
function learnSkew(response: Response): void {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date)) return;
  const difference = date + 500 - Date.now();
  skew = Math.abs(difference) < 1_500 ? 0 : difference;
}

function problem(status: number, v: Json): ApiError {
  const o = isObject(v) ? v : {};
  const errors = list(o, "errors")
    .filter(isObject)
    .map((e) => ({
      code: "invalid",
      severity: "error" as const,
      node_id: "",
      field: text(e, "location").replace(/^body\.?/, ""),
      message: text(e, "message"),
      fix: "",
    }));
  const issues = [...decodeIssues(o.issues), ...errors];
  return new ApiError(status, text(o, "title") || `Error ${status}`, text(o, "detail"), issues);
}

function readBody(raw: string): Json {
  if (raw.trim() === "") return null;
  try {
    return parseExact(raw);
  } catch {
    return { title: "The server's answer can't be read" };
  }
}

async function call(path: string, o: Options = {}): Promise<JsonObject> {
  const init: RequestInit = {
    method: o.method ?? "GET",
    credentials: "same-origin",
    headers: { accept: "application/json", ...o.headers },
  };
  if (o.body !== undefined) {
    init.body = stringify(o.body);
    init.headers = { ...init.headers, "content-type": "application/json" };
  }
  let response: Response;
  let raw: string;
  try {
    response = await fetch(`/api/v1${path}`, init);
    raw = await response.text();
  } catch {
    throw new ApiError(0, "No connection", "The server can't be reached.", []);
  }
  learnSkew(response);
  const body = readBody(raw);
  if (response.status === 401) throw new ApiError(401, "Signed out", "You are signed out.", []);
  if (!response.ok) throw problem(response.status, body);
  return isObject(body) ? body : {};
}

const runAt = (id: string): string => `/runs/${encodeURIComponent(id)}`;

function runOf(o: JsonObject): Run {
  const run = decodeRun(o);
  if (run === null) throw new ApiError(200, "The server's answer can't be read", "", []);
  return run;
}

export async function loadKinds(): Promise<Map<string, Spec>> {
  return decodeKinds(await call("/kinds"));
}

export async function loadRun(id: string): Promise<Run> {
  return runOf(await call(runAt(id)));
}

export async function loadDefinition(id: string): Promise<Definition> {
  const o = await call(`${runAt(id)}/definition`);
  return decodeDefinition(isObject(o.definition) ? o.definition : o);
}

/** A page of spans; next is where the next one begins, null after the last. */
export type SpanPage = { spans: Span[]; seq: number; next: number | null };

export async function loadSpans(id: string, after: number): Promise<SpanPage> {
  const o = await call(`${runAt(id)}/spans?after=${after}`);
  const next = count(o.next_after);
  return { spans: decodeSpans(o.spans), seq: count(o.seq), next: next > after ? next : null };
}

/** A line of the execution log. */
export type LogLine = {
  node_id: string;
  node_type: string;
  label: string;
  address: string;
  round: number;
  status: string;
  result: Json | undefined;
  error: StepError | null;
  duration_ms: number;
  attempts: number;
  start: number;
  handle: string;
  warning: string;
};

/** The log's first lines, at least as many as wanted if there are; more tells that it goes on. */
export async function loadLog(id: string, wanted: number): Promise<{ lines: LogLine[]; more: boolean }> {
  const lines: LogLine[] = [];
  let cursor = "";
  do {
    const page = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const o = await call(`${runAt(id)}/steps${page}`);
    for (const line of decodeLog(o)) lines.push(line);
    cursor = text(o, "next_cursor");
  } while (cursor !== "" && lines.length < wanted);
  return { lines, more: cursor !== "" };
}

function decodeLog(o: JsonObject): LogLine[] {
  return list(o, "items")
    .filter(isObject)
    .map((v) => ({
      node_id: text(v, "node_id"),
      node_type: text(v, "node_type"),
      label: text(v, "label"),
      address: text(v, "address"),
      round: count(v.round),
      status: text(v, "status"),
      result: v.result,
      error: decodeError(v.error),
      duration_ms: count(v.duration_ms),
      attempts: count(v.attempts),
      start: timeOf(v.started_at),
      handle: text(v, "handle"),
      warning: text(v, "warning"),
    }));
}

export async function cancelRun(id: string): Promise<Run> {
  return runOf(await call(`${runAt(id)}/cancel`, { method: "POST" }));
}

export async function retryRun(id: string): Promise<Run> {
  return runOf(await call(`${runAt(id)}/retry`, { method: "POST" }));
}

/** Starts a run of the same workflow. The key makes a repeated click harmless. */
export async function startRun(workflow: string, input: Json, draft: boolean, key: string): Promise<string> {
  const o = await call(`/workflows/${encodeURIComponent(workflow)}/runs`, {
    method: "POST",
    body: draft ? { input, draft } : { input },
    headers: { "idempotency-key": key },
  });
  return text(o, "id");
}

/** Starts a run that keeps what was done before a step. */
export async function forkRun(id: string, from: string, input: Json | undefined): Promise<string> {
  const body: JsonObject = input === undefined ? { from } : { from, input };
  return text(await call(`${runAt(id)}/fork`, { method: "POST", body }), "id");
}

/** What the inspector shows of an approval. */
export type Approval = {
  id: string;
  address: string;
  title: string;
  department: string;
  assignees: string[];
  status: string;
  due: number;
  closed_reason: string;
  decision: { outcome: string; comment: string; by: string; at: number; data: Json | undefined } | null;
  outcomes: { id: string; label: string; tone: string }[];
};

function decodeApproval(v: JsonObject): Approval {
  const d = isObject(v.decision) ? v.decision : null;
  return {
    id: text(v, "id"),
    address: text(v, "address"),
    title: text(v, "title"),
    department: text(v, "department"),
    assignees: list(v, "assignees").map(String),
    status: text(v, "status"),
    due: timeOf(v.due_at),
    closed_reason: text(v, "closed_reason"),
    decision: d && {
      outcome: text(d, "outcome"),
      comment: text(d, "comment"),
      by: isObject(d.by) ? text(d.by, "name") || text(d.by, "email") : text(d, "by"),
      at: timeOf(d.at),
      data: d.data,
    },
    outcomes: list(v, "outcomes")
      .filter(isObject)
      .map((o) => ({ id: text(o, "id"), label: text(o, "label") || text(o, "id"), tone: text(o, "tone") })),
  };
}

/** The approvals of a run. */
export async function loadApprovals(id: string): Promise<Approval[]> {
  const o = await call(`/approvals?status=all&run=${encodeURIComponent(id)}`);
  return list(o, "items").filter(isObject).map(decodeApproval);
}

/** Reads what somebody typed as JSON. Throws JsonError with the place of the fault. */
export const readJson = parse;

/** An id for the server to know a repeated request by. Needs no secure connection. */
export function newKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return [...random].map((b) => b.toString(16).padStart(2, "0")).join("");
}
