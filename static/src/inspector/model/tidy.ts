/** A layout in which every step can be seen. */

import type { Definition, FlowNode } from "../../graph/definition";
import { autoLayout, placeMissing } from "../../graph/layout";
import { type Size, sizesOf } from "../../graph/sizes";
import { type Kinds, specOf } from "../../graph/spec";
import { childrenOf, parentsFirst } from "../../graph/tree";

function overlap(a: FlowNode, b: FlowNode, sizes: ReadonlyMap<string, Size>): boolean {
  const [p, q, s, t] = [a.position, b.position, sizes.get(a.id), sizes.get(b.id)];
  if (!p || !q || !s || !t) return false;
  return p.x < q.x + t.width && q.x < p.x + s.width && p.y < q.y + t.height && q.y < p.y + s.height;
}

/**
 * Keeps the places that the author chose. A body in which steps cover each other,
 * as in files written by hand, is laid out anew; from the innermost outwards,
 * because a container changes its size with what is in it.
 */
export function tidy(d: Definition, kinds: Kinds): Definition {
  let out = placeMissing(d, kinds);
  const containers = parentsFirst(d).filter((n) => specOf(kinds, n.type).container !== "");
  for (const body of [...containers.map((n) => n.id).reverse(), ""]) {
    const nodes = childrenOf(out, body);
    const sizes = sizesOf(out, kinds);
    const covered = nodes.some((a, i) => nodes.slice(i + 1).some((b) => overlap(a, b, sizes)));
    if (covered) out = autoLayout(out, kinds, new Set([body]));
  }
  return out;
}
