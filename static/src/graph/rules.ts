/** Which connections make sense. */

import type { Definition } from "./definition";
import { handlesOf, hasInput, hasOutput, type Kinds, resolvedHandle, specOf } from "./spec";
import { nodeById } from "./tree";

export type Connection = { source: string; target: string; handle: string };

/** Whether there is a way from one node to another. */
export function reaches(d: Definition, from: string, to: string): boolean {
  const next = new Map<string, string[]>();
  for (const e of d.edges) {
    const list = next.get(e.source);
    if (list) list.push(e.target);
    else next.set(e.source, [e.target]);
  }
  const seen = new Set([from]);
  const queue = [from];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    if (at === to) return true;
    for (const n of next.get(at) ?? []) {
      if (!seen.has(n)) {
        seen.add(n);
        queue.push(n);
      }
    }
  }
  return false;
}

/** Why a connection can't be made, in words for its author, or null. */
export function whyNotConnect(d: Definition, kinds: Kinds, c: Connection): string | null {
  const source = nodeById(d, c.source);
  const target = nodeById(d, c.target);
  if (source === undefined || target === undefined) return "There is no such step";
  if (source.id === target.id) return "A step can't lead to itself";
  if (source.parent !== target.parent) return "A connection stays inside of one container";
  const sourceSpec = specOf(kinds, source.type);
  const targetSpec = specOf(kinds, target.type);
  if (!hasOutput(sourceSpec)) return `Nothing follows ${sourceSpec.title}`;
  if (!hasInput(targetSpec)) return `Nothing leads to ${targetSpec.title}`;
  if (c.handle !== "" && !handlesOf(sourceSpec, source).some((h) => h.id === c.handle)) {
    return `${source.label || source.id} has no output "${c.handle}"`;
  }
  const handle = resolvedHandle(sourceSpec, source, c.handle);
  const twin = d.edges.some(
    (e) =>
      e.source === c.source &&
      e.target === c.target &&
      resolvedHandle(sourceSpec, source, e.handle) === handle,
  );
  if (twin) return "These steps are connected already";
  if (reaches(d, c.target, c.source)) return "That would close a circle; use a loop to repeat steps";
  return null;
}
