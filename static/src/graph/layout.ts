/** Automatic layout: every body by itself, from the innermost outwards. */

import dagre from "@dagrejs/dagre";
import type { Definition, FlowEdge, FlowNode, Position } from "./definition";
import { metrics, portOffset, type Size, sizesOf, snap } from "./sizes";
import { handlesOf, type Kinds, specOf } from "./spec";
import { childrenOf, parentsFirst } from "./tree";

const gap = { between: 40, ranks: 72 };

/** The room that the condition on an edge takes: canvases cut longer ones off. */
function labelOf(e: FlowEdge): { width: number; height: number; labelpos: "c" } {
  const width = e.condition === "" ? 0 : Math.min(180, 24 + e.condition.length * 7);
  return { width, height: width === 0 ? 0 : 20, labelpos: "c" };
}

/** The edges of one body, in the order of their source's handles. */
function bodyEdges(d: Definition, kinds: Kinds, nodes: readonly FlowNode[]): FlowEdge[] {
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const rank = (e: FlowEdge): number => {
    const n = byId.get(e.source);
    return n ? handlesOf(specOf(kinds, n.type), n).findIndex((h) => h.id === e.handle) : 0;
  };
  return d.edges
    .filter((e) => byId.has(e.source) && byId.has(e.target) && e.source !== e.target)
    .map((e) => ({ e, r: rank(e) }))
    .sort((a, b) => a.r - b.r)
    .map(({ e }) => e);
}

/** What follows "then" goes above what follows "else". */
function orderOf(edges: readonly FlowEdge[]): { left: string; right: string }[] {
  const out: { left: string; right: string }[] = [];
  const last = new Map<string, FlowEdge>();
  const seen = new Set<string>();
  for (const e of edges) {
    const before = last.get(e.source);
    // A step that follows two of them can't be above itself.
    if (seen.has(e.target)) continue;
    seen.add(e.target);
    if (before && before.handle !== e.handle) out.push({ left: before.target, right: e.target });
    last.set(e.source, e);
  }
  return out;
}

/** Places the nodes of one body, from left to right, with the corner at 0,0. */
function layoutBody(
  d: Definition,
  kinds: Kinds,
  nodes: readonly FlowNode[],
  sizes: ReadonlyMap<string, Size>,
): Map<string, Position> {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ rankdir: "LR", nodesep: gap.between, ranksep: gap.ranks, marginx: 0, marginy: 0 });
  g.setDefaultEdgeLabel(() => ({}));
  const ports = new Map<string, number>();
  for (const n of nodes) {
    const size = sizes.get(n.id) ?? { width: metrics.nodeWidth, height: metrics.header };
    const port = portOffset(specOf(kinds, n.type), size);
    ports.set(n.id, port);
    // Centred on the port, so that the edges of a chain are straight lines.
    g.setNode(n.id, { width: size.width, height: 2 * Math.max(port, size.height - port) });
  }
  const edges = bodyEdges(d, kinds, nodes);
  for (const e of edges) g.setEdge(e.source, e.target, labelOf(e));
  dagre.layout(g, { constraints: orderOf(edges) });
  const out = new Map<string, Position>();
  for (const n of nodes) {
    const at = g.node(n.id);
    const size = sizes.get(n.id) ?? { width: metrics.nodeWidth, height: metrics.header };
    out.set(n.id, { x: at.x - size.width / 2, y: at.y - (ports.get(n.id) ?? 0) });
  }
  const left = Math.min(...[...out.values()].map((p) => p.x));
  const top = Math.min(...[...out.values()].map((p) => p.y));
  for (const [id, p] of out) out.set(id, { x: snap(p.x - left), y: snap(p.y - top) });
  return out;
}

function place(d: Definition, positions: ReadonlyMap<string, Position>): Definition {
  return {
    ...d,
    nodes: d.nodes.map((n) => {
      const p = positions.get(n.id);
      return p ? { ...n, position: p } : n;
    }),
  };
}

/** Lays out the given bodies (container ids, "" is the workflow), or all of them. */
export function autoLayout(d: Definition, kinds: Kinds, only?: ReadonlySet<string>): Definition {
  const containers = parentsFirst(d).filter((n) => specOf(kinds, n.type).container !== "");
  const bodies = [...containers.map((n) => n.id).reverse(), ""].filter(
    (b) => only === undefined || only.has(b),
  );
  let out = d;
  for (const body of bodies) {
    const nodes = childrenOf(out, body);
    if (nodes.length === 0) continue;
    const positions = layoutBody(out, kinds, nodes, sizesOf(out, kinds));
    const [dx, dy] = body === "" ? [0, 0] : [metrics.containerPad, metrics.containerHeader + 16];
    for (const [id, p] of positions) positions.set(id, { x: p.x + dx, y: p.y + dy });
    out = place(out, positions);
  }
  return out;
}

/** Lays out only the bodies in which some node has no place yet. */
export function placeMissing(d: Definition, kinds: Kinds): Definition {
  const missing = new Set(d.nodes.filter((n) => n.position === null).map((n) => n.parent));
  if (missing.size === 0) return d;
  // A container that grows may cover its neighbours: lay out what is around it, too.
  const byId = new Map(d.nodes.map((n) => [n.id, n]));
  for (const id of missing) {
    const parent = byId.get(id)?.parent;
    if (parent !== undefined) missing.add(parent);
  }
  return autoLayout(d, kinds, missing);
}

/** Where nodes are on the whole canvas, not relative to their containers. */
export function absolutePositions(d: Definition): Map<string, Position> {
  const out = new Map<string, Position>();
  for (const n of parentsFirst(d)) {
    const base = out.get(n.parent) ?? { x: 0, y: 0 };
    out.set(n.id, { x: base.x + (n.position?.x ?? 0), y: base.y + (n.position?.y ?? 0) });
  }
  return out;
}
