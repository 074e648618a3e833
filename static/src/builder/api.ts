/** The JSON API as the builder uses it. Numbers keep their text: see graph/json. */

import { type Definition, decodeDefinition, encodeDefinition } from "../graph/definition";
import { decodeIssues, type Issue } from "../graph/issue";
import { isObject, type Json, type JsonObject, parse, stringify, text } from "../graph/json";
import { decodeKinds, type Spec } from "../graph/spec";

/** An answer that is no success: RFC 9457. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly issues: Issue[],
    readonly body: JsonObject,
  ) {
    super(detail || title);
  }
}

export type Workflow = {
  id: string;
  revision: number;
  definition: Definition;
  issues: Issue[];
  published_version: number;
  published_at: string;
  updated_at: string;
};

export type Conflict = { current_revision: number; updated_by: string; updated_at: string };

/** huma's {errors:[{location,message}]} as issues, so that forms show them alike. */
function fieldErrors(v: Json | undefined): Issue[] {
  if (!Array.isArray(v)) return [];
  return v.filter(isObject).map((o) => ({
    code: "invalid",
    severity: "error",
    node_id: "",
    field: text(o, "location").replace(/^body\.?/, ""),
    message: text(o, "message"),
    fix: "",
  }));
}

function problem(status: number, v: Json): ApiError {
  const body = isObject(v) ? v : {};
  const issues = [...decodeIssues(body.issues), ...fieldErrors(body.errors)];
  return new ApiError(status, text(body, "title") || `Error ${status}`, text(body, "detail"), issues, body);
}

type Options = { method?: string; body?: Json; headers?: Record<string, string>; signal?: AbortSignal };

async function call(path: string, o: Options = {}): Promise<JsonObject> {
  const init: RequestInit = {
    method: o.method ?? "GET",
    credentials: "same-origin",
    headers: { accept: "application/json", ...o.headers },
  };
  if (o.signal) init.signal = o.signal;
  if (o.body !== undefined) {
    init.body = stringify(o.body);
    init.headers = { ...init.headers, "content-type": "application/json" };
  }
  let response: Response;
  let raw: string;
  try {
    response = await fetch(`/api/v1${path}`, init);
    raw = await response.text();
  } catch (err) {
    if (err instanceof DOMException && err.name === "AbortError") throw err;
    throw new ApiError(
      0,
      "No connection",
      "The server can't be reached. Your changes are kept here.",
      [],
      {},
    );
  }
  const body = readBody(raw);
  if (response.status === 401) {
    throw new ApiError(401, "Signed out", "Sign in again in another tab, then go on here.", [], {});
  }
  if (!response.ok) throw problem(response.status, body);
  return isObject(body) ? body : {};
}

function readBody(raw: string): Json {
  if (raw.trim() === "") return null;
  try {
    return parse(raw);
  } catch {
    return { title: "The server's answer can't be read" };
  }
}

function count(v: Json | undefined): number {
  return typeof v === "number" ? v : 0;
}

function decodeWorkflow(o: JsonObject): Workflow {
  return {
    id: text(o, "id"),
    revision: count(o.revision),
    definition: decodeDefinition(o.definition ?? null),
    issues: decodeIssues(o.issues),
    published_version: count(o.published_version),
    published_at: text(o, "published_at"),
    updated_at: text(o, "updated_at"),
  };
}

export function conflictOf(err: ApiError): Conflict {
  const by = err.body.updated_by;
  return {
    current_revision: count(err.body.current_revision),
    updated_by: isObject(by) ? text(by, "name") || text(by, "email") : text(err.body, "updated_by"),
    updated_at: text(err.body, "updated_at"),
  };
}

const at = (id: string): string => `/workflows/${encodeURIComponent(id)}`;

export async function loadKinds(): Promise<Map<string, Spec>> {
  return decodeKinds(await call("/kinds"));
}

export async function loadWorkflow(id: string): Promise<Workflow> {
  return decodeWorkflow(await call(at(id)));
}

export async function saveWorkflow(id: string, revision: number, d: Definition): Promise<Workflow> {
  return decodeWorkflow(
    await call(at(id), { method: "PUT", body: { revision, definition: encodeDefinition(d) } }),
  );
}

/** Stores a definition in any accepted form as a new workflow. */
export async function createWorkflow(definition: Json): Promise<Workflow> {
  return decodeWorkflow(await call("/workflows", { method: "POST", body: definition }));
}

export async function validate(
  document: Json,
  signal?: AbortSignal,
): Promise<{ issues: Issue[]; definition: Definition | null }> {
  const o = await call("/workflows/validate", {
    method: "POST",
    body: document,
    ...(signal ? { signal } : {}),
  });
  return {
    issues: decodeIssues(o.issues),
    definition: isObject(o.definition) ? decodeDefinition(o.definition) : null,
  };
}

export async function publish(
  id: string,
  revision: number,
  notes: string,
): Promise<{ version: number; published_at: string }> {
  const body: JsonObject = notes === "" ? { revision } : { revision, notes };
  const o = await call(`${at(id)}/publish`, { method: "POST", body });
  return { version: count(o.version), published_at: text(o, "published_at") };
}

/** Starts a run of the saved draft. The key makes a repeated click harmless. */
export async function startRun(id: string, input: Json, key: string): Promise<string> {
  const o = await call(`${at(id)}/runs`, {
    method: "POST",
    body: { input, draft: true },
    headers: { "idempotency-key": key },
  });
  return text(o, "id");
}

export type Choice = { value: string; label: string };

function choices(o: JsonObject, value: string): Choice[] {
  const items = Array.isArray(o.items) ? o.items.filter(isObject) : [];
  return items.map((i) => ({
    value: text(i, value) || text(i, "id"),
    label: text(i, "name") || text(i, "title") || text(i, "id"),
  }));
}

/** Suggestions for fields that name other things. None where the server has no such list. */
export async function loadChoices(path: string, value = "id"): Promise<Choice[]> {
  try {
    return choices(await call(path), value);
  } catch {
    return [];
  }
}
