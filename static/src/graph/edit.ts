/** Edits of a definition: pure functions from one document to the next. */

import type { Definition, FlowEdge, FlowNode, Position } from "./definition";
import { freeId, slug } from "./ids";
import { renameInConfig, renameInExpression } from "./refs";
import type { Connection } from "./rules";
import { handlesOf, type Kinds, specOf } from "./spec";
import { nodeById, withDescendants } from "./tree";

export function nodeIds(d: Definition): Set<string> {
  return new Set(d.nodes.map((n) => n.id));
}

/** A key that no edge has. */
export function freeKey(edges: readonly FlowEdge[]): string {
  return `e${edges.reduce((max, e) => Math.max(max, Number(e.key.slice(1)) || 0), -1) + 1}`;
}

export function addNode(d: Definition, node: FlowNode): Definition {
  return { ...d, nodes: [...d.nodes, node] };
}

/** Changes fields of one node. The id is changed with renameNode. */
export function updateNode(d: Definition, id: string, fields: Partial<Omit<FlowNode, "id">>): Definition {
  return { ...d, nodes: d.nodes.map((n) => (n.id === id ? { ...n, ...fields } : n)) };
}

/** Removes nodes with all that is inside of them, and every edge that touches them. */
export function removeNodes(d: Definition, ids: Iterable<string>): Definition {
  const gone = withDescendants(d, ids);
  return {
    ...d,
    nodes: d.nodes.filter((n) => !gone.has(n.id)),
    edges: d.edges.filter((e) => !gone.has(e.source) && !gone.has(e.target)),
  };
}

/**
 * Removes nodes and joins what led to each with what followed it, where both are
 * one: deleting a step out of a chain leaves a chain.
 */
export function removeAndBridge(d: Definition, ids: ReadonlySet<string>): Definition {
  let out = d;
  for (const id of ids) {
    const into = out.edges.filter((e) => e.target === id);
    const from = out.edges.filter((e) => e.source === id);
    const [before, after] = [into[0], from[0]];
    out = removeNodes(out, [id]);
    if (before === undefined || after === undefined || into.length > 1 || from.length > 1) continue;
    const { source, handle, condition } = before;
    const twin = out.edges.some(
      (e) => e.source === source && e.target === after.target && e.handle === handle,
    );
    if (!twin) out = connect(out, { source, target: after.target, handle }, condition);
  }
  return out;
}

export function moveNodes(d: Definition, positions: ReadonlyMap<string, Position>): Definition {
  return {
    ...d,
    nodes: d.nodes.map((n) => {
      const p = positions.get(n.id);
      return p === undefined ? n : { ...n, position: { ...n.position, ...p } };
    }),
  };
}

/** Puts nodes into another body. Edges that would cross a border go away. */
export function reparent(
  d: Definition,
  ids: ReadonlySet<string>,
  parent: string,
  positions: ReadonlyMap<string, Position>,
): Definition {
  const moved = d.nodes.map((n) => (ids.has(n.id) ? { ...n, parent } : n));
  const bodies = new Map(moved.map((n) => [n.id, n.parent]));
  const edges = d.edges.filter((e) => bodies.get(e.source) === bodies.get(e.target));
  return moveNodes({ ...d, nodes: moved, edges }, positions);
}

export function connect(d: Definition, c: Connection, condition = ""): Definition {
  const edge = { key: freeKey(d.edges), ...c, condition, extra: {} };
  return { ...d, edges: [...d.edges, edge] };
}

export function updateEdge(d: Definition, key: string, fields: Partial<Omit<FlowEdge, "key">>): Definition {
  return { ...d, edges: d.edges.map((e) => (e.key === key ? { ...e, ...fields } : e)) };
}

export function removeEdges(d: Definition, keys: ReadonlySet<string>): Definition {
  return { ...d, edges: d.edges.filter((e) => !keys.has(e.key)) };
}

/** Puts a node between the two ends of an edge: the edge leads to it, and it leads on by a handle. */
export function insertOnEdge(d: Definition, key: string, node: FlowNode, handle: string): Definition {
  const edge = d.edges.find((e) => e.key === key);
  if (edge === undefined) return addNode(d, node);
  const added = updateEdge(addNode(d, node), key, { target: node.id });
  return connect(added, { source: node.id, target: edge.target, handle });
}

/** Changes an id everywhere: parents, edges, references in templates and conditions. */
export function renameNode(d: Definition, kinds: Kinds, from: string, to: string): Definition {
  if (from === to || nodeById(d, from) === undefined) return d;
  const renames = new Map([[from, to]]);
  const ids = nodeIds(d);
  return {
    ...d,
    nodes: d.nodes.map((n) => ({
      ...n,
      id: n.id === from ? to : n.id,
      parent: n.parent === from ? to : n.parent,
      config: renameInConfig(n.config, specOf(kinds, n.type).config, renames, ids),
    })),
    edges: d.edges.map((e) => ({
      ...e,
      source: e.source === from ? to : e.source,
      target: e.target === from ? to : e.target,
      condition: renameInExpression(e.condition, renames, ids),
    })),
  };
}

/**
 * Changes a node's config. Where that renames an output (the id of a case, of an
 * answer), the edges that leave by it follow.
 */
export function setConfig(d: Definition, kinds: Kinds, id: string, config: FlowNode["config"]): Definition {
  const node = nodeById(d, id);
  if (node === undefined) return d;
  const spec = specOf(kinds, node.type);
  const before = handlesOf(spec, node);
  const after = handlesOf(spec, { ...node, config });
  const changed = before.flatMap((h, i) => (h.id === after[i]?.id ? [] : [i]));
  const next = updateNode(d, id, { config });
  const [at] = changed;
  const [from, to] = [before[at ?? -1]?.id, after[at ?? -1]?.id];
  if (changed.length !== 1 || before.length !== after.length || from === undefined || to === undefined)
    return next;
  return {
    ...next,
    edges: next.edges.map((e) => (e.source === id && e.handle === from ? { ...e, handle: to } : e)),
  };
}

/** The readable id of a new node: after its label, otherwise its kind. */
export function idFor(d: Definition, base: string): string {
  return freeId(slug(base), nodeIds(d));
}
