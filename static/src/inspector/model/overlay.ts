/** What a run did, on the graph that it ran: the status of nodes, the way that was taken. */

import type { Definition, FlowEdge, FlowNode } from "../../graph/definition";
import { isNumber, isObject, type Json, text } from "../../graph/json";
import { handlesOf, type Kinds, resolvedHandle, specOf, takesAny } from "../../graph/spec";
import type { Span } from "../../live/span";
import type { SpanStore } from "../../live/spans";
import { iterationIndex } from "../../live/tree";
import { isSettled } from "./bar";

/** Which iteration of a loop is shown, by the loop's address. */
export type Picks = ReadonlyMap<string, number>;

export type Progress = {
  done: number;
  failed: number;
  running: number;
  /** -1 while it is not known, as with while loops. */
  total: number;
  /** The iterations that there are, and the one that is shown; -1 for none. */
  indexes: readonly number[];
  shown: number;
  /** The address that a pick is made under. */
  address: string;
};

export type NodeState = {
  /** The step's span; undefined for what was not reached. */
  span: Span | undefined;
  status: string;
  progress: Progress | null;
};

export type EdgeState =
  /** Its source has not decided yet. */
  "open" | "taken" | "dead";

export type Overlay = { nodes: ReadonlyMap<string, NodeState>; edges: ReadonlyMap<string, EdgeState> };

/** The last round of each step, by address. */
function latestRounds(store: SpanStore): Map<string, Span> {
  const out = new Map<string, Span>();
  for (const s of store.all()) {
    if (s.kind !== "step") continue;
    const known = out.get(s.address);
    if (known === undefined || known.round < s.round) out.set(s.address, s);
  }
  return out;
}

/** The picks that show a span: one for each loop that it is in. */
export function picksFor(address: string): Map<string, number> {
  const out = new Map<string, number>();
  for (const m of address.matchAll(/\[(\d+)\](?=\/|$)/g)) out.set(address.slice(0, m.index), Number(m[1]));
  return out;
}

/** What to show of a loop that nobody has picked from: the work, else what failed, else the first. */
function naturalIteration(iterations: readonly Span[]): number {
  const working = iterations.filter((s) => !isSettled(s.status)).at(-1);
  const failed = iterations.find((s) => s.status === "failed");
  const best = working ?? failed ?? iterations[0];
  return best === undefined ? -1 : iterationIndex(best);
}

/** How many items a loop has, where that can be told. */
function totalOf(loop: Span): number {
  const output = isObject(loop.output) ? loop.output.count : undefined;
  if (isNumber(output)) return Number(output);
  const input: Json | undefined = loop.input;
  if (!isObject(input)) return -1;
  if (Array.isArray(input.collection)) return input.collection.length;
  return isNumber(input.times) ? Number(input.times) : -1;
}

function progressOf(loop: Span, store: SpanStore, picks: Picks): Progress {
  const iterations = [...store.childrenOf(loop.id)]
    .filter((s) => s.kind === "iteration")
    .sort((a, b) => iterationIndex(a) - iterationIndex(b));
  const indexes = iterations.map(iterationIndex);
  const picked = picks.get(loop.address);
  return {
    done: iterations.filter((s) => isSettled(s.status)).length,
    failed: iterations.filter((s) => s.status === "failed").length,
    running: iterations.filter((s) => !isSettled(s.status)).length,
    total: totalOf(loop),
    indexes,
    shown: picked !== undefined && indexes.includes(picked) ? picked : naturalIteration(iterations),
    address: loop.address,
  };
}

/** How a settled source treats an edge. */
function edgeState(e: FlowEdge, source: FlowNode, kinds: Kinds, from: NodeState | undefined): EdgeState {
  const span = from?.span;
  if (from === undefined || !isSettled(from.status)) return "open";
  if (span === undefined || from.status === "skipped" || from.status === "cancelled") return "dead";
  const failed = from.status === "failed";
  const goesOn = source.on_error === "branch" || source.on_error === "continue";
  if (failed && !goesOn && span.output === undefined) return "dead";
  const spec = specOf(kinds, source.type);
  const handle = resolvedHandle(spec, source, e.handle);
  const normal = handlesOf(spec, source)[0]?.id ?? "";
  const chosen =
    text(span.attributes, "handle") || (failed && source.on_error === "branch" ? "error" : normal);
  if (handle !== chosen && !(takesAny(spec) && e.handle === "" && !failed)) return "dead";
  const taken = span.attributes.taken;
  if (Array.isArray(taken))
    return taken.some((at) => isNumber(at) && `e${Number(at)}` === e.key) ? "taken" : "dead";
  return "taken";
}

/** Addresses, from the outermost container inwards, with the picked iterations. */
class Walker {
  readonly nodes = new Map<string, NodeState>();
  private readonly bodies = new Map<string, FlowNode[]>();
  private readonly byAddress: Map<string, Span>;

  constructor(
    d: Definition,
    private readonly kinds: Kinds,
    private readonly store: SpanStore,
    private readonly picks: Picks,
    private readonly statusOf: (s: Span) => string,
  ) {
    this.byAddress = latestRounds(store);
    for (const n of d.nodes) {
      const list = this.bodies.get(n.parent);
      if (list) list.push(n);
      else this.bodies.set(n.parent, [n]);
    }
  }

  body(parent: string, prefix: string): void {
    const nodes = this.bodies.get(parent) ?? [];
    this.bodies.delete(parent); // A circle of parents ends here.
    for (const n of nodes) {
      const address = prefix === "" ? n.id : `${prefix}/${n.id}`;
      const span = this.byAddress.get(address);
      const loop = specOf(this.kinds, n.type).container === "loop";
      const progress = loop && span !== undefined ? progressOf(span, this.store, this.picks) : null;
      this.nodes.set(n.id, { span, status: span === undefined ? "" : this.statusOf(span), progress });
      this.body(n.id, loop ? `${address}[${progress?.shown ?? -1}]` : address);
    }
  }
}

export function overlayOf(
  d: Definition,
  kinds: Kinds,
  store: SpanStore,
  picks: Picks,
  statusOf: (s: Span) => string = (s) => s.status,
): Overlay {
  const walker = new Walker(d, kinds, store, picks, statusOf);
  walker.body("", "");
  const byId = new Map(d.nodes.map((n) => [n.id, n]));
  const edges = new Map<string, EdgeState>();
  for (const e of d.edges) {
    const source = byId.get(e.source);
    if (source === undefined) continue;
    edges.set(e.key, edgeState(e, source, kinds, walker.nodes.get(e.source)));
  }
  return { nodes: walker.nodes, edges };
}
