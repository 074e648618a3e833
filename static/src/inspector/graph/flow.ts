/** The graph of the version that ran, with what the run did on it, as the canvas library wants it. */

import type { Edge, Node } from "@xyflow/react";
import { anyHandle, toHandle } from "../../builder/flow";
import type { Definition, FlowNode } from "../../graph/definition";
import { sizesOf } from "../../graph/sizes";
import { type Handle, handlesOf, type Kinds, resolvedHandle, type Spec, specOf } from "../../graph/spec";
import { parentsFirst } from "../../graph/tree";
import type { EdgeState, NodeState, Overlay } from "../model/overlay";

export type StepData = { node: FlowNode; spec: Spec; handles: readonly Handle[]; state: NodeState };
export type StepNode = Node<StepData, "step" | "frame">;
export type WayData = { state: EdgeState; label: string };
export type Way = Edge<WayData, "way">;

const unreached: NodeState = { span: undefined, status: "", progress: null };

function sameState(a: NodeState, b: NodeState): boolean {
  return (
    a.span === b.span && a.status === b.status && JSON.stringify(a.progress) === JSON.stringify(b.progress)
  );
}

/** Nodes, parents first. Those that did not change are the same objects as before. */
export function stepNodes(
  d: Definition,
  kinds: Kinds,
  overlay: Overlay,
  selected: string,
  before: ReadonlyMap<string, StepNode>,
): StepNode[] {
  const sizes = sizesOf(d, kinds);
  return parentsFirst(d).map((n) => {
    const state = overlay.nodes.get(n.id) ?? unreached;
    const old = before.get(n.id);
    if (old?.data.node === n && old.selected === (n.id === selected) && sameState(old.data.state, state))
      return old;
    const spec = specOf(kinds, n.type);
    const size = sizes.get(n.id) ?? { width: 0, height: 0 };
    const node: StepNode = {
      id: n.id,
      type: spec.container === "" ? "step" : "frame",
      position: { x: n.position?.x ?? 0, y: n.position?.y ?? 0 },
      ...size,
      measured: size,
      selected: n.id === selected,
      ariaLabel: `${n.label || n.id}, ${spec.title}, ${state.status || "not reached"}`,
      data: { node: n, spec, handles: handlesOf(spec, n), state },
    };
    if (sizes.has(n.parent) && n.parent !== n.id) node.parentId = n.parent;
    return node;
  });
}

export function ways(d: Definition, kinds: Kinds, overlay: Overlay): Way[] {
  const byId = new Map(d.nodes.map((n) => [n.id, n]));
  return d.edges.flatMap((e): Way[] => {
    const source = byId.get(e.source);
    if (source === undefined || !byId.has(e.target)) return [];
    const spec = specOf(kinds, source.type);
    const wanted = resolvedHandle(spec, source, e.handle);
    const handle = handlesOf(spec, source).find((h) => h.id === wanted);
    const state = overlay.edges.get(e.key) ?? "open";
    return [
      {
        id: e.key,
        type: "way",
        source: e.source,
        target: e.target,
        sourceHandle: handle ? toHandle(handle.id) : anyHandle,
        targetHandle: "in",
        // Above the containers of its body, below what is in them; what was taken over what was not.
        zIndex: state === "taken" ? 2 : 1,
        focusable: false,
        data: { state, label: e.condition },
      },
    ];
  });
}
