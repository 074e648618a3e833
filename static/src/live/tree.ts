/** The span tree: what is inside of what, in an order that does not change as spans do. */

import type { Span } from "./span";
import type { SpanStore } from "./spans";

export type SpanNode = { span: Span; children: SpanNode[]; attempts: Span[] };

/** The place of a node in the definition, to order what begins at the same moment. */
export type Rank = (nodeId: string) => number;

/** The number of an iteration, from its address: "each[3]" is 3. */
export function iterationIndex(s: Span): number {
  const m = /\[(\d+)\]$/.exec(s.address || s.id);
  return m ? Number(m[1]) : -1;
}

/** Steps without a start come last: they were not reached, or are not known to have begun. */
function startOf(s: Span): number {
  if (!Number.isNaN(s.start)) return s.start;
  return Number.isNaN(s.end) ? Number.MAX_VALUE : s.end;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Iterations by their number, steps by their start. Ties follow the definition and
 * then the id, never seq: it grows with every change, and rows would jump.
 */
export function compareSpans(rank: Rank): (a: Span, b: Span) => number {
  return (a, b) => {
    if (a.kind === "iteration" && b.kind === "iteration") {
      return iterationIndex(a) - iterationIndex(b) || byText(a.id, b.id);
    }
    return (
      startOf(a) - startOf(b) || rank(a.node_id) - rank(b.node_id) || a.round - b.round || byText(a.id, b.id)
    );
  };
}

const byAttempt = (a: Span, b: Span): number => a.attempt - b.attempt || byText(a.id, b.id);

/**
 * The roots of the tree. A run has one; spans whose parent has not come yet hang
 * under it until it does, so that no step that is known stays out of sight. A circle
 * of parents, which only a fault of the sender can make, is cut somewhere.
 */
export function buildTree(store: SpanStore, rank: Rank = () => 0): SpanNode[] {
  const compare = compareSpans(rank);
  const built = new Set<string>();
  const build = (span: Span): SpanNode => {
    built.add(span.id);
    const inside: Span[] = [];
    const attempts: Span[] = [];
    for (const s of store.childrenOf(span.id)) {
      if (s.kind === "attempt") attempts.push(s);
      else if (!built.has(s.id)) inside.push(s);
    }
    inside.sort(compare);
    attempts.sort(byAttempt);
    return { span, children: inside.map(build), attempts };
  };
  const buildAll = (spans: Span[]): SpanNode[] =>
    spans.sort(compare).flatMap((s) => (built.has(s.id) ? [] : [build(s)]));

  const roots = buildAll([...store.all()].filter((s) => s.kind === "run"));
  const steps = [...store.all()].filter((s) => s.kind !== "attempt");
  const lost = buildAll(steps.filter((s) => store.get(s.parent_id) === undefined));
  lost.push(...buildAll(steps));
  const run = roots[0];
  if (run === undefined) return lost;
  if (lost.length > 0) {
    run.children = [...run.children, ...lost].sort((a, b) => compare(a.span, b.span));
  }
  return roots;
}
