/** Copy and paste, also between workflows: a piece of a document as text. */

import {
  type Definition,
  decodeDefinition,
  emptyDefinition,
  encodeDefinition,
  type FlowNode,
} from "./definition";
import { freeKey, nodeIds } from "./edit";
import { freeId } from "./ids";
import { isObject, parse, stringify } from "./json";
import { renameInConfig, renameInExpression } from "./refs";
import { type Kinds, specOf } from "./spec";
import { nodeById, whyNotInside, withDescendants } from "./tree";

/** The chosen nodes, what is inside of them, and the edges among them. */
export function copyNodes(d: Definition, ids: Iterable<string>): string {
  const chosen = withDescendants(d, ids);
  const piece: Definition = {
    ...emptyDefinition(),
    nodes: d.nodes.filter((n) => chosen.has(n.id)),
    edges: d.edges.filter((e) => chosen.has(e.source) && chosen.has(e.target)),
  };
  return stringify(encodeDefinition(piece), 2);
}

/** Reads what copyNodes wrote, or any definition in canonical form; null for other text. */
export function readPiece(text: string): Definition | null {
  try {
    const v = parse(text);
    return isObject(v) && Array.isArray(v.nodes) && v.nodes.length > 0 ? decodeDefinition(v) : null;
  } catch {
    return null;
  }
}

export type Pasted = {
  definition: Definition;
  /** The new ids of the outermost nodes. */
  roots: string[];
  /** What was left out, in words. */
  skipped: string[];
};

function tops(piece: Definition): FlowNode[] {
  const ids = nodeIds(piece);
  return piece.nodes.filter((n) => !ids.has(n.parent));
}

/** The outermost nodes that the target body doesn't take, with the reason. */
function refused(d: Definition, kinds: Kinds, piece: Definition, parent: string): Map<string, string> {
  const container = nodeById(d, parent);
  const inside = container ? specOf(kinds, container.type) : null;
  const out = new Map<string, string>();
  for (const n of tops(piece)) {
    const spec = specOf(kinds, n.type);
    const reason =
      spec.type === "trigger" && d.nodes.some((x) => x.type === "trigger")
        ? "A workflow has one trigger"
        : whyNotInside(spec, inside);
    if (reason !== null) out.set(n.id, reason);
  }
  return out;
}

/**
 * Adds a piece to a body, with new ids where the old ones are taken. References
 * within the piece follow; references to steps outside of it stay as they are.
 */
export function paste(
  d: Definition,
  kinds: Kinds,
  piece: Definition,
  parent: string,
  offset: { x: number; y: number },
): Pasted {
  const no = refused(d, kinds, piece, parent);
  const dropped = withDescendants(piece, no.keys());
  const nodes = piece.nodes.filter((n) => !dropped.has(n.id));
  const taken = nodeIds(d);
  const renames = new Map<string, string>();
  for (const n of nodes) {
    const id = freeId(n.id, taken);
    taken.add(id);
    if (id !== n.id) renames.set(n.id, id);
  }
  const ids = nodeIds(piece);
  const renamed = (id: string) => renames.get(id) ?? id;
  const added = nodes.map((n) => {
    const top = !ids.has(n.parent);
    const at = n.position ?? { x: 0, y: 0 };
    return {
      ...n,
      id: renamed(n.id),
      parent: top ? parent : renamed(n.parent),
      position: top ? { ...at, x: at.x + offset.x, y: at.y + offset.y } : n.position,
      config: renameInConfig(n.config, specOf(kinds, n.type).config, renames, ids),
    };
  });
  const edges = [...d.edges];
  for (const e of piece.edges) {
    if (dropped.has(e.source) || dropped.has(e.target)) continue;
    edges.push({
      ...e,
      key: freeKey(edges),
      source: renamed(e.source),
      target: renamed(e.target),
      condition: renameInExpression(e.condition, renames, ids),
    });
  }
  return {
    definition: { ...d, nodes: [...d.nodes, ...added], edges },
    roots: tops(piece)
      .filter((n) => !dropped.has(n.id))
      .map((n) => renamed(n.id)),
    skipped: [...new Set(no.values())],
  };
}
