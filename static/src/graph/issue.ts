/** Findings of validation: engine.Issue. */

import { isObject, type Json, text } from "./json";

export type Severity = "error" | "warning";

export type Issue = {
  code: string;
  severity: Severity;
  node_id: string;
  /** A path inside the node ("config.prompt") or the document ("edges[3].target"). */
  field: string;
  message: string;
  fix: string;
};

export function decodeIssues(v: Json | undefined): Issue[] {
  if (!Array.isArray(v)) return [];
  return v.filter(isObject).map((o) => ({
    code: text(o, "code"),
    severity: o.severity === "warning" ? "warning" : "error",
    node_id: text(o, "node_id"),
    field: text(o, "field"),
    message: text(o, "message"),
    fix: text(o, "fix"),
  }));
}

/** The edge an issue is about, by its index in the document, or -1. */
export function edgeIndex(issue: Issue): number {
  const m = /^edges\[(\d+)\]/.exec(issue.field);
  return m ? Number(m[1]) : -1;
}

/** The issues at a field or below it. */
export function issuesAt(issues: readonly Issue[], field: string): Issue[] {
  return issues.filter(
    (i) => i.field === field || i.field.startsWith(`${field}.`) || i.field.startsWith(`${field}[`),
  );
}

export function worst(issues: readonly Issue[]): Severity | null {
  if (issues.length === 0) return null;
  return issues.some((i) => i.severity === "error") ? "error" : "warning";
}
