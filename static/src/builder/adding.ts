/** Adding a step: what it starts as, where it goes, and what leads to it. */

import { type Definition, type FlowNode, newNode, type Position } from "../graph/definition";
import { addNode, connect, idFor, insertOnEdge } from "../graph/edit";
import { absolutePositions, autoLayout } from "../graph/layout";
import { belowAll, clearOf, rightOf } from "../graph/placement";
import { type Connection, whyNotConnect } from "../graph/rules";
import { requiredDefaults } from "../graph/schema";
import { cardSize } from "../graph/sizes";
import { handlesOf, hasInput, hasOutput, type Kinds, type Spec, specOf } from "../graph/spec";
import { nodeById } from "../graph/tree";
import type { AddTarget } from "./state";

type Point = { x: number; y: number };

/** A node of a kind with its defaults, placed. Middle is the middle of what is seen. */
export function freshNode(
  d: Definition,
  kinds: Kinds,
  spec: Spec,
  target: AddTarget,
  middle: Point | null,
): FlowNode {
  return newNode({
    id: idFor(d, spec.type.replaceAll("_", "-")),
    type: spec.type,
    label: spec.title,
    parent: target.parent,
    config: requiredDefaults(spec.config),
    position: placeFor(d, kinds, spec, target, middle ?? { x: 0, y: 0 }),
  });
}

function placeFor(d: Definition, kinds: Kinds, spec: Spec, target: AddTarget, middle: Point): Position {
  const { parent, edge } = target;
  const size = cardSize(spec, newNode({ id: "", type: spec.type }));
  const source = target.from ?? d.edges.find((e) => e.key === edge);
  const right = source && target.at === null ? rightOf(d, kinds, source.source) : null;
  if (right !== null) return edge === null ? clearOf(d, kinds, right, size, parent) : right;
  if (target.at === null && parent !== "") return belowAll(d, kinds, parent);
  const at = target.at ?? { x: middle.x - size.width / 2, y: middle.y - size.height / 2 };
  const base = absolutePositions(d).get(parent) ?? { x: 0, y: 0 };
  return clearOf(d, kinds, { x: at.x - base.x, y: at.y - base.y }, size, parent);
}

/** Adds a node, and the connections that its target asks for where they make sense. */
export function putNode(d: Definition, kinds: Kinds, node: FlowNode, target: AddTarget): Definition {
  const spec = specOf(kinds, node.type);
  if (target.edge !== null && hasOutput(spec) && hasInput(spec)) {
    const handle = handlesOf(spec, node)[0]?.id ?? "";
    return autoLayout(insertOnEdge(d, target.edge, node, handle), kinds, new Set([target.parent]));
  }
  const added = addNode(d, node);
  if (target.from === null) return added;
  const c: Connection = { ...target.from, target: node.id };
  return whyNotConnect(added, kinds, c) === null ? connect(added, c) : added;
}

/** After the selected node, by its first output that leads nowhere; into an empty container; onto an edge. */
export function targetAfter(
  d: Definition,
  kinds: Kinds,
  id: string | undefined,
  edge: string | undefined,
): AddTarget {
  const nowhere: AddTarget = { at: null, parent: "", from: null, edge: null };
  const node = id === undefined ? undefined : nodeById(d, id);
  if (node === undefined) {
    const source = d.edges.find((e) => e.key === edge)?.source;
    if (edge === undefined || source === undefined) return nowhere;
    return { ...nowhere, edge, parent: nodeById(d, source)?.parent ?? "" };
  }
  const spec = specOf(kinds, node.type);
  const empty = spec.container !== "" && !d.nodes.some((n) => n.parent === node.id);
  if (empty) return { ...nowhere, parent: node.id };
  if (!hasOutput(spec)) return { ...nowhere, parent: spec.container === "" ? node.parent : node.id };
  const used = new Set(d.edges.filter((e) => e.source === node.id).map((e) => e.handle));
  const handles = handlesOf(spec, node);
  const handle = (handles.find((h) => !used.has(h.id)) ?? handles[0])?.id ?? "";
  return { ...nowhere, parent: node.parent, from: { source: node.id, handle } };
}
