/** Where a node goes when its author did not say exactly. */

import type { Definition, Position } from "./definition";
import { metrics, type Size, sizesOf, snap } from "./sizes";
import type { Kinds } from "./spec";
import { nodeById } from "./tree";

const gap = metrics.grid * 3;
const ranks = 72;

/** Keeps a place inside of a container clear of its border and its title. */
export function inBody(p: Position, parent: string): Position {
  if (parent === "") return p;
  return { ...p, x: Math.max(metrics.containerPad, p.x), y: Math.max(metrics.containerHeader + 12, p.y) };
}

/** Below the last node of a container. */
export function belowAll(d: Definition, kinds: Kinds, parent: string): Position {
  const sizes = sizesOf(d, kinds);
  let y: number = metrics.containerHeader + 16;
  for (const n of d.nodes) {
    if (n.parent === parent) y = Math.max(y, (n.position?.y ?? 0) + (sizes.get(n.id)?.height ?? 0) + gap);
  }
  return { x: metrics.containerPad, y };
}

/** Right of a node, as far as a layout would put what follows it. */
export function rightOf(d: Definition, kinds: Kinds, id: string): Position | null {
  const at = nodeById(d, id)?.position;
  if (!at) return null;
  const width = sizesOf(d, kinds).get(id)?.width ?? metrics.nodeWidth;
  return { x: at.x + width + ranks, y: at.y };
}

/** The first place at or below a point where a node covers no other of its body. */
export function clearOf(d: Definition, kinds: Kinds, p: Position, size: Size, parent: string): Position {
  const sizes = sizesOf(d, kinds);
  const { x, y } = inBody({ x: snap(p.x), y: snap(p.y) }, parent);
  const inTheWay = d.nodes
    .filter((n) => n.parent === parent && n.position !== null)
    .map((n) => ({ ...(n.position ?? { x: 0, y: 0 }), ...(sizes.get(n.id) ?? { width: 0, height: 0 }) }))
    .filter((r) => x < r.x + r.width + gap && r.x < x + size.width + gap)
    .sort((a, b) => a.y - b.y);
  let top = y;
  for (const r of inTheWay) {
    if (top < r.y + r.height + gap && r.y < top + size.height + gap) top = snap(r.y + r.height + gap);
  }
  return { x, y: top };
}
