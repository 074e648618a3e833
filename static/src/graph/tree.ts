/** Bodies and containers: who is inside of whom. */

import type { Definition, FlowNode } from "./definition";
import { type Kinds, type Spec, specOf } from "./spec";

export function nodeById(d: Definition, id: string): FlowNode | undefined {
  return d.nodes.find((n) => n.id === id);
}

/** The nodes directly inside of a container, in definition order. */
export function childrenOf(d: Definition, parent: string): FlowNode[] {
  return d.nodes.filter((n) => n.parent === parent);
}

/** The containers around a node, innermost first. Safe on cyclic parents. */
export function ancestors(d: Definition, id: string): FlowNode[] {
  const out: FlowNode[] = [];
  const seen = new Set([id]);
  let at = nodeById(d, nodeById(d, id)?.parent ?? "");
  while (at !== undefined && !seen.has(at.id)) {
    seen.add(at.id);
    out.push(at);
    at = nodeById(d, at.parent);
  }
  return out;
}

/** The nodes and everything inside of them. */
export function withDescendants(d: Definition, ids: Iterable<string>): Set<string> {
  const out = new Set(ids);
  for (let grown = true; grown; ) {
    grown = false;
    for (const n of d.nodes) {
      if (!out.has(n.id) && out.has(n.parent)) {
        out.add(n.id);
        grown = true;
      }
    }
  }
  return out;
}

/** Parents before children, otherwise definition order: the order a canvas draws in. */
export function parentsFirst(d: Definition): FlowNode[] {
  const byParent = new Map<string, FlowNode[]>();
  const ids = new Set(d.nodes.map((n) => n.id));
  for (const n of d.nodes) {
    const parent = ids.has(n.parent) ? n.parent : "";
    const siblings = byParent.get(parent);
    if (siblings) siblings.push(n);
    else byParent.set(parent, [n]);
  }
  const out: FlowNode[] = [];
  const walk = (parent: string) => {
    const below = byParent.get(parent) ?? [];
    byParent.delete(parent);
    for (const n of below) {
      out.push(n);
      if (n.id !== "") walk(n.id);
    }
  };
  walk("");
  // What is left hangs in a cycle of parents; it is drawn at the root.
  for (const [, nodes] of byParent) out.push(...nodes.filter((n) => !out.includes(n)));
  return out;
}

/** Why a kind can't be put into a container ("" is the workflow), or null. */
export function whyNotInside(spec: Spec, container: Spec | null): string | null {
  if (container !== null && container.container === "") return `${container.title} has no body`;
  if (spec.container === "branch") {
    return container?.container === "parallel" ? null : "A branch belongs into a parallel";
  }
  if (container?.container === "parallel")
    return "A parallel contains only branches: drop it into one of them";
  if (spec.type === "trigger" && container !== null)
    return "The trigger starts the workflow, so it stays outside of containers";
  return null;
}

/** Why a node can't move into a container of the document, or null. */
export function whyNotMove(d: Definition, kinds: Kinds, id: string, parent: string): string | null {
  const node = nodeById(d, id);
  if (node === undefined) return "There is no such step";
  if (parent === "") return whyNotInside(specOf(kinds, node.type), null);
  if (parent === id || ancestors(d, parent).some((a) => a.id === id))
    return "A container can't be inside of itself";
  const target = nodeById(d, parent);
  if (target === undefined) return "There is no such container";
  return whyNotInside(specOf(kinds, node.type), specOf(kinds, target.type));
}
