/** Containers grow with their content; what stands beside them makes room. */

import type { Definition, FlowNode } from "./definition";
import { type Size, sizesOf } from "./sizes";
import { type Kinds, specOf } from "./spec";
import { parentsFirst } from "./tree";

/** Moves the siblings right of and below a container by what it grew. */
function push(d: Definition, c: FlowNode, before: Size, after: Size): Definition {
  const [dx, dy] = [Math.max(0, after.width - before.width), Math.max(0, after.height - before.height)];
  const at = c.position;
  if (at === null || (dx === 0 && dy === 0)) return d;
  return {
    ...d,
    nodes: d.nodes.map((n) => {
      if (n.parent !== c.parent || n.id === c.id || n.position === null) return n;
      const { x, y } = n.position;
      const right = x >= at.x + before.width;
      const below = !right && y >= at.y + before.height;
      if (right && dx > 0) return { ...n, position: { ...n.position, x: x + dx } };
      return below && dy > 0 ? { ...n, position: { ...n.position, y: y + dy } } : n;
    }),
  };
}

/**
 * Repairs the overlaps that an edit caused: for every container that is larger
 * after it than before, from the innermost outwards.
 */
export function makeRoom(before: Definition, after: Definition, kinds: Kinds): Definition {
  const old = sizesOf(before, kinds);
  const containers = parentsFirst(after).filter((n) => specOf(kinds, n.type).container !== "");
  let out = after;
  for (const { id } of containers.reverse()) {
    const was = old.get(id);
    const now = sizesOf(out, kinds).get(id);
    const c = out.nodes.find((n) => n.id === id);
    if (was && now && c) out = push(out, c, was, now);
  }
  return out;
}
