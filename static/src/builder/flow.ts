/** The document as the canvas library wants it. */

import type { Edge, Node } from "@xyflow/react";
import type { Definition, FlowEdge, FlowNode, Position } from "../graph/definition";
import { edgeIndex, type Issue, type Severity, worst } from "../graph/issue";
import { type Size, sizesOf } from "../graph/sizes";
import {
  type Handle,
  handlesOf,
  type Kinds,
  resolvedHandle,
  type Spec,
  specOf,
  type Tone,
} from "../graph/spec";
import { parentsFirst } from "../graph/tree";

/** Names for what has no id of its own: the unnamed output, and "whichever". */
export const unnamed = "_";
export const anyHandle = "*";

export type CardData = {
  node: FlowNode;
  spec: Spec;
  handles: readonly Handle[];
  issues: readonly Issue[];
  /** Whether something can be dropped here right now. */
  target: boolean;
  empty: boolean;
};
export type CardNode = Node<CardData, "card" | "container">;

export type LineData = { edge: FlowEdge; label: string; tone: Tone; severity: Severity | null };
export type LineEdge = Edge<LineData, "line">;

export function toHandle(handle: string): string {
  return handle === "" ? unnamed : handle;
}

export function fromHandle(handle: string | null | undefined): string {
  return handle === null || handle === undefined || handle === unnamed || handle === anyHandle ? "" : handle;
}

export type FlowInput = {
  definition: Definition;
  kinds: Kinds;
  selected: ReadonlySet<string>;
  issuesOf: (id: string) => readonly Issue[];
  dropInto: string | null;
  drag: ReadonlyMap<string, Position> | null;
};

function same(a: CardNode, b: CardNode): boolean {
  return (
    a.data.node === b.data.node &&
    a.data.spec === b.data.spec &&
    a.data.issues === b.data.issues &&
    a.data.target === b.data.target &&
    a.data.empty === b.data.empty &&
    a.selected === b.selected &&
    a.width === b.width &&
    a.height === b.height &&
    a.parentId === b.parentId &&
    a.position.x === b.position.x &&
    a.position.y === b.position.y
  );
}

function toNode(f: FlowInput, n: FlowNode, size: Size, empty: boolean, known: boolean): CardNode {
  const spec = specOf(f.kinds, n.type);
  const p = f.drag?.get(n.id) ?? n.position ?? { x: 0, y: 0 };
  const node: CardNode = {
    id: n.id,
    type: spec.container === "" ? "card" : "container",
    position: { x: p.x, y: p.y },
    ...size,
    measured: size,
    selected: f.selected.has(n.id),
    ariaLabel: `${n.label || n.id}, ${spec.title}`,
    data: {
      node: n,
      spec,
      handles: handlesOf(spec, n),
      issues: f.issuesOf(n.id),
      target: f.dropInto === n.id,
      empty,
    },
  };
  if (known) node.parentId = n.parent;
  return node;
}

/** Nodes, parents first. Those that did not change are the same objects as before. */
export function toNodes(f: FlowInput, before: ReadonlyMap<string, CardNode>): CardNode[] {
  const sizes = sizesOf(f.definition, f.kinds);
  const parents = new Set(f.definition.nodes.map((n) => n.parent));
  return parentsFirst(f.definition).map((n) => {
    const size = sizes.get(n.id) ?? { width: 0, height: 0 };
    const node = toNode(f, n, size, !parents.has(n.id), sizes.has(n.parent) && n.parent !== n.id);
    const old = before.get(n.id);
    return old && same(old, node) ? old : node;
  });
}

/** The name on an edge: its condition, or the output it leaves by where outputs aren't drawn as rows. */
function lineLabel(e: FlowEdge, spec: Spec, handles: readonly Handle[]): string {
  if (e.condition !== "") return e.condition;
  if (spec.container !== "" && handles.length > 1) return handles.find((h) => h.id === e.handle)?.label ?? "";
  return "";
}

export function toEdges(
  d: Definition,
  kinds: Kinds,
  selected: ReadonlySet<string>,
  issues: readonly Issue[],
): LineEdge[] {
  const byId = new Map(d.nodes.map((n) => [n.id, n]));
  const found = new Map<number, Issue[]>();
  for (const i of issues) {
    const at = edgeIndex(i);
    if (at >= 0) found.set(at, [...(found.get(at) ?? []), i]);
  }
  return d.edges.flatMap((e, index): LineEdge[] => {
    const source = byId.get(e.source);
    if (source === undefined || !byId.has(e.target)) return [];
    const spec = specOf(kinds, source.type);
    const handles = handlesOf(spec, source);
    const handle = handles.find((h) => h.id === resolvedHandle(spec, source, e.handle));
    return [
      {
        id: e.key,
        type: "line",
        source: e.source,
        target: e.target,
        sourceHandle: handle ? toHandle(handle.id) : anyHandle,
        targetHandle: "in",
        selected: selected.has(e.key),
        // Above the containers of its body, below what is in them.
        zIndex: 1,
        ariaLabel: `Connection from ${source.label || e.source} to ${byId.get(e.target)?.label || e.target}`,
        data: {
          edge: e,
          label: lineLabel(e, spec, handles),
          tone: handle?.tone ?? "",
          severity: worst(found.get(index) ?? []),
        },
      },
    ];
  });
}
