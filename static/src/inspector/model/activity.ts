/** What a container is doing, which is what is done in it. */

import type { SpanNode } from "../../live/tree";

const known = new WeakMap<SpanNode, string>();

/**
 * The status to show of a span. A container runs for as long as it is open; when all
 * that is open in it waits for somebody, so does it.
 */
export function shownStatus(node: SpanNode): string {
  const before = known.get(node);
  if (before !== undefined) return before;
  let status = node.span.status;
  if (status === "running" && node.children.length > 0) {
    const inside = new Set(node.children.map(shownStatus));
    const works = inside.has("running") || inside.has("retrying");
    if (!works && inside.has("parked")) status = "parked";
  }
  known.set(node, status);
  return status;
}
