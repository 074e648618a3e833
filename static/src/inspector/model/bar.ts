/** What a span did when: the pieces that its bar is drawn from. */

import { timeOf } from "../../live/span";
import type { SpanNode } from "../../live/tree";
import { shownStatus } from "./activity";

export type PartKind =
  /** An attempt, or a step that computes without one. */
  | "work"
  /** Parked: nothing runs, somebody or something else is to act. */
  | "wait"
  /** Ready, but not begun: what it depends on is being stored, or it waits for its turn. */
  | "lead"
  /** Between a failed attempt and the next one. */
  | "backoff"
  /** A container: its work is that of what is in it. */
  | "frame";

export type Part = { kind: PartKind; from: number; to: number; status: string; open: boolean };

export type Interval = { from: number; to: number };

const ended = new Set(["succeeded", "failed", "skipped", "cancelled", "rejected"]);

/** Whether a span is over: nothing of it moves any more. */
export function isSettled(status: string): boolean {
  return ended.has(status);
}

/** Where a span ends: its end, or now while it goes on. */
export function endOf(node: SpanNode, now: number): number {
  const { end, start, status } = node.span;
  if (!Number.isNaN(end)) return end;
  return isSettled(status) ? start : Math.max(now, start);
}

export function nextAttemptAt(node: SpanNode): number {
  return node.span.status === "retrying" ? timeOf(node.span.attributes.next_attempt_at) : Number.NaN;
}

/** Whether a type of node waits for something outside, rather than working. */
export type Waits = (type: string) => boolean;

/** The pieces of a span's bar, in order. None for what has not begun or was skipped. */
export function partsOf(node: SpanNode, now: number, waits: Waits): Part[] {
  const { span, attempts } = node;
  if (Number.isNaN(span.start) || span.status === "skipped") return [];
  const to = endOf(node, now);
  const open = !isSettled(span.status);
  if (span.kind !== "step" || node.children.length > 0) {
    return [{ kind: "frame", from: span.start, to, status: shownStatus(node), open }];
  }
  if (attempts.length === 0) {
    const kind = span.status === "parked" || waits(span.node_type) ? "wait" : "work";
    return [{ kind, from: span.start, to, status: span.status, open }];
  }
  return attemptParts(node, now, to);
}

/** Attempts, and what lies between them and after the last. */
function attemptParts(node: SpanNode, now: number, to: number): Part[] {
  const { span, attempts } = node;
  const parts: Part[] = [];
  const first = attempts[0]?.start ?? to;
  if (first > span.start) {
    parts.push({ kind: "lead", from: span.start, to: first, status: span.status, open: false });
  }
  for (const [i, a] of attempts.entries()) {
    const going = Number.isNaN(a.end) && !isSettled(a.status) && a.status !== "parked";
    const end = going ? to : Number.isNaN(a.end) ? a.start : a.end;
    parts.push({ kind: "work", from: a.start, to: end, status: a.status, open: going });
    const next = attempts[i + 1];
    const until = next?.start ?? to;
    const gap: PartKind = a.status === "parked" ? "wait" : "backoff";
    const waits = next !== undefined || gap === "wait" || span.status === "retrying";
    if (waits && until > end) {
      parts.push({
        kind: gap,
        from: end,
        to: until,
        status: gap === "wait" ? "parked" : "retrying",
        open: false,
      });
    }
  }
  const last = parts.at(-1);
  const due = nextAttemptAt(node);
  if (last?.kind === "backoff" && due > now) last.to = due;
  if (last !== undefined && !isSettled(span.status)) last.open = true;
  return parts;
}

/** When anything in a tree worked, as intervals that do not touch. */
export function busyTimes(roots: readonly SpanNode[], now: number, waits: Waits): Interval[] {
  const all: Interval[] = [];
  const walk = (n: SpanNode): void => {
    for (const p of partsOf(n, now, waits)) if (p.kind === "work") all.push({ from: p.from, to: p.to });
    for (const c of n.children) walk(c);
  };
  for (const r of roots) walk(r);
  return merge(all);
}

export function merge(intervals: Interval[]): Interval[] {
  const out: Interval[] = [];
  for (const i of intervals.sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last !== undefined && i.from <= last.to) last.to = Math.max(last.to, i.to);
    else out.push({ ...i });
  }
  return out;
}

/** From the first start to the last end of a tree; the future of retries included. */
export function rangeOf(roots: readonly SpanNode[], now: number): Interval {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const walk = (n: SpanNode): void => {
    if (!Number.isNaN(n.span.start) && n.span.status !== "skipped") {
      from = Math.min(from, n.span.start);
      to = Math.max(to, endOf(n, now));
    }
    const due = nextAttemptAt(n);
    if (!Number.isNaN(due)) to = Math.max(to, due);
    for (const c of n.children) walk(c);
  };
  for (const r of roots) walk(r);
  if (from > to) return { from: now, to: now + 1 };
  return { from, to: Math.max(to, from + 1) };
}
