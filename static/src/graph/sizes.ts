/** How big things are on the canvas, in its units. Known without drawing, so that layout is a pure function. */

import type { Definition, FlowNode } from "./definition";
import { handlesOf, hasOutput, type Kinds, type Spec, specOf } from "./spec";
import { summaryOf } from "./summary";

export type Size = { width: number; height: number };

export const metrics = {
  nodeWidth: 236,
  header: 52,
  summary: 28,
  handleRow: 24,
  handlePad: 8,
  containerHeader: 44,
  containerPad: 24,
  containerMin: { width: 320, height: 156 },
  branchMin: { width: 300, height: 128 },
  grid: 8,
} as const;

/** Whether outputs are drawn as rows with names rather than as one dot. */
export function showsHandleRows(spec: Spec, node: FlowNode): boolean {
  return spec.container === "" && hasOutput(spec) && handlesOf(spec, node).length > 1;
}

export function cardSize(spec: Spec, node: FlowNode): Size {
  let height: number = metrics.header;
  if (summaryOf(spec, node) !== "") height += metrics.summary;
  if (showsHandleRows(spec, node))
    height += handlesOf(spec, node).length * metrics.handleRow + metrics.handlePad;
  return { width: metrics.nodeWidth, height };
}

/** The size of every node. Containers hold their content, however deep. */
export function sizesOf(d: Definition, kinds: Kinds): Map<string, Size> {
  const inside = new Map<string, FlowNode[]>();
  for (const n of d.nodes) {
    const list = inside.get(n.parent);
    if (list) list.push(n);
    else inside.set(n.parent, [n]);
  }
  const out = new Map<string, Size>();
  const open = new Set<string>();
  const measure = (n: FlowNode): Size => {
    const known = out.get(n.id);
    if (known) return known;
    const spec = specOf(kinds, n.type);
    if (spec.container === "" || open.has(n.id)) return remember(n, cardSize(spec, n));
    open.add(n.id);
    const min = spec.container === "branch" ? metrics.branchMin : metrics.containerMin;
    const size = {
      width: Math.max(min.width, n.position?.width ?? 0),
      height: Math.max(min.height, n.position?.height ?? 0),
    };
    for (const c of inside.get(n.id) ?? []) {
      const s = measure(c);
      size.width = Math.max(size.width, (c.position?.x ?? 0) + s.width + metrics.containerPad);
      size.height = Math.max(size.height, (c.position?.y ?? 0) + s.height + metrics.containerPad);
    }
    return remember(n, size);
  };
  const remember = (n: FlowNode, s: Size): Size => {
    out.set(n.id, s);
    return s;
  };
  for (const n of d.nodes) measure(n);
  return out;
}

/** How far below its top a node's input (and its only output) sits. */
export function portOffset(spec: Spec, size: Size): number {
  return spec.container === "" ? metrics.header / 2 : size.height / 2;
}

export function snap(v: number): number {
  return Math.round(v / metrics.grid) * metrics.grid;
}
