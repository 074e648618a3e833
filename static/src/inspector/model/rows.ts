/** The rows of the timeline: the tree as far as it is open. */

import type { Span } from "../../live/span";
import { iterationIndex, type SpanNode } from "../../live/tree";

/** A stretch of a loop's iterations that fold as one. */
export type Page = { from: number; to: number; nodes: readonly SpanNode[] };

export type Row = {
  /** The span's id, or a name for a page. */
  key: string;
  node: SpanNode;
  /** Set where the row stands for some of the node's iterations. */
  page: Page | null;
  level: number;
  /** For each level above, whether its line goes on below this row. */
  guides: readonly boolean[];
  last: boolean;
  expandable: boolean;
  expanded: boolean;
  /** Place among siblings, from 1, and how many there are. */
  position: number;
  siblings: number;
};

export type Filter = { text: string; failedOnly: boolean };

export type RowOptions = {
  /** What was opened or closed by hand, by key. */
  toggled: ReadonlyMap<string, boolean>;
  filter: Filter;
  /** Keys that are open so that something inside of them is seen. */
  revealed: ReadonlySet<string>;
};

export const pageSize = 100;
/** Loops of up to this many iterations start with these open. */
const openIterations = 5;

export function isFailed(s: Span): boolean {
  return s.status === "failed" || s.status === "rejected";
}

export function isFiltering(f: Filter): boolean {
  return f.failedOnly || f.text.trim() !== "";
}

export function matches(s: Span, f: Filter): boolean {
  if (f.failedOnly && !isFailed(s)) return false;
  const text = f.text.trim().toLowerCase();
  if (text === "") return true;
  return [s.name, s.node_id, s.node_type, s.address, s.status, s.error?.code, s.error?.message].some(
    (v) => v?.toLowerCase().includes(text) === true,
  );
}

/** The name of the page of a loop that an iteration is on. */
export function pageKey(loop: string, index: number): string {
  return `${loop}[${Math.floor(index / pageSize)}…]`;
}

/** Iterations in pages, where there are more than fit one; null for other nodes. */
export function pagesOf(node: SpanNode): Page[] | null {
  const first = node.children[0];
  if (first?.span.kind !== "iteration" || node.children.length <= pageSize) return null;
  const pages = new Map<number, SpanNode[]>();
  for (const c of node.children) {
    const page = Math.floor(iterationIndex(c.span) / pageSize);
    const list = pages.get(page);
    if (list) list.push(c);
    else pages.set(page, [c]);
  }
  return [...pages].map(([page, nodes]) => ({ from: page * pageSize, to: (page + 1) * pageSize - 1, nodes }));
}

function startsOpen(node: SpanNode, siblings: number): boolean {
  return node.span.kind !== "iteration" || siblings <= openIterations;
}

/** What is left of a tree under a filter: nodes that match, and those above them. */
function pruned(node: SpanNode, f: Filter): SpanNode | null {
  const children = node.children.map((c) => pruned(c, f)).filter((c) => c !== null);
  return children.length > 0 || matches(node.span, f) ? { ...node, children } : null;
}

type Place = Pick<Row, "level" | "guides" | "last" | "position" | "siblings">;

class Flattener {
  readonly rows: Row[] = [];
  private readonly filtering: boolean;

  constructor(private readonly o: RowOptions) {
    this.filtering = isFiltering(o.filter);
  }

  siblings(nodes: readonly SpanNode[], level: number, guides: readonly boolean[]): void {
    for (const [i, n] of nodes.entries()) {
      const last = i === nodes.length - 1;
      this.node(n, { level, guides, last, position: i + 1, siblings: nodes.length });
    }
  }

  private node(node: SpanNode, place: Place): void {
    const expandable = node.children.length > 0;
    const expanded = expandable && this.isOpen(node.span.id, startsOpen(node, place.siblings));
    this.rows.push({ key: node.span.id, node, page: null, expandable, expanded, ...place });
    if (!expanded) return;
    const guides = [...place.guides, !place.last];
    const pages = pagesOf(node);
    if (pages === null) this.siblings(node.children, place.level + 1, guides);
    else this.pages(node, pages, place.level + 1, guides);
  }

  private pages(node: SpanNode, pages: readonly Page[], level: number, guides: readonly boolean[]): void {
    for (const [i, page] of pages.entries()) {
      const last = i === pages.length - 1;
      const key = pageKey(node.span.id, page.from);
      const expanded = this.isOpen(key, false);
      const place = { level, guides, last, position: i + 1, siblings: pages.length };
      this.rows.push({ key, node, page, expandable: true, expanded, ...place });
      if (expanded) this.siblings(page.nodes, level + 1, [...guides, !last]);
    }
  }

  private isOpen(key: string, otherwise: boolean): boolean {
    const asked = this.o.toggled.get(key);
    if (this.filtering) return asked ?? true;
    return this.o.revealed.has(key) || (asked ?? otherwise);
  }
}

export function rowsOf(roots: readonly SpanNode[], o: RowOptions): Row[] {
  const left = isFiltering(o.filter)
    ? roots.map((r) => pruned(r, o.filter)).filter((r) => r !== null)
    : roots;
  const f = new Flattener(o);
  f.siblings(left, 1, []);
  return f.rows;
}

/** The keys that have to be open for a span's row to be there, pages included. */
export function keysAbove(get: (id: string) => Span | undefined, id: string): string[] {
  const out: string[] = [];
  const seen = new Set<string>();
  for (let s = get(id); s !== undefined && !seen.has(s.id); s = get(s.parent_id)) {
    seen.add(s.id);
    const parent = get(s.parent_id);
    if (parent === undefined) break;
    if (s.kind === "iteration") out.push(pageKey(parent.id, iterationIndex(s)));
    out.push(parent.id);
  }
  return out;
}

/** The steps of a body that count: of one that ran again, as after a retry, the last round. */
function lastRounds(nodes: readonly SpanNode[]): readonly SpanNode[] {
  if (nodes.every((n) => n.span.round === 0)) return nodes;
  const rounds = new Map<string, number>();
  for (const { span: s } of nodes) rounds.set(s.address, Math.max(s.round, rounds.get(s.address) ?? 0));
  return nodes.filter((n) => n.span.round === rounds.get(n.span.address));
}

/** Failures where they began: failed spans with no failed span inside, from top to bottom. */
export function failuresIn(roots: readonly SpanNode[]): string[] {
  const out: string[] = [];
  const walk = (n: SpanNode): boolean => {
    let inside = false;
    for (const c of lastRounds(n.children)) inside = walk(c) || inside;
    const failed = isFailed(n.span);
    if (failed && !inside && n.span.kind !== "run") out.push(n.span.id);
    return inside || failed;
  };
  for (const r of roots) walk(r);
  return out;
}

/** The span that follows or precedes another in a list, going round at its ends. */
export function neighbour(
  ids: readonly string[],
  order: readonly string[],
  from: string,
  step: 1 | -1,
): string | null {
  if (ids.length === 0) return null;
  const place = new Map(order.map((id, i) => [id, i]));
  const here = place.get(from) ?? -1;
  const ahead = ids.filter((id) => ((place.get(id) ?? 0) - here) * step > 0);
  const next = step === 1 ? ahead[0] : ahead.at(-1);
  return next ?? (step === 1 ? ids[0] : ids.at(-1)) ?? null;
}

/** Every span's id in the order of the tree. */
export function treeOrder(roots: readonly SpanNode[]): string[] {
  const out: string[] = [];
  const walk = (n: SpanNode): void => {
    out.push(n.span.id);
    for (const c of n.children) walk(c);
  };
  for (const r of roots) walk(r);
  return out;
}

/**
 * The step that began last of those at work, which is what there is to watch.
 * Containers don't count: something in them does.
 */
export function latestActive(roots: readonly SpanNode[]): string | null {
  let best: Span | null = null;
  for (const s of leavesOf(roots)) {
    const active = s.status === "running" || s.status === "retrying" || s.status === "parked";
    if (active && s.kind === "step" && (best === null || isBetter(s, best))) best = s;
  }
  return best?.id ?? null;
}

function* leavesOf(nodes: readonly SpanNode[]): Generator<Span> {
  for (const n of nodes) {
    if (n.children.length === 0) yield n.span;
    else yield* leavesOf(n.children);
  }
}

/** What works goes before what waits, what began later before what began earlier. */
function isBetter(a: Span, b: Span): boolean {
  const waits = Number(a.status === "parked") - Number(b.status === "parked");
  return waits !== 0 ? waits < 0 : a.start > b.start;
}
