/** A JSON value as lines, as far as it is open. */

import { isObject, type Json, RawNumber, stringify } from "../../graph/json";

export type Line = {
  /** Where it is in the value: a JSON pointer. A chunk has its range behind it. */
  path: string;
  depth: number;
  /** The key or index; null for the value itself. */
  key: string | null;
  value: Json;
  /** Set for a stretch of a long list. */
  chunk: { from: number; to: number } | null;
  expandable: boolean;
  expanded: boolean;
};

export const chunkSize = 100;

/** Text is cut to this until all of it is asked for. */
export const shortText = 600;

function entries(v: Json): [string, Json][] {
  if (Array.isArray(v)) return v.map((x, i) => [String(i), x]);
  return isObject(v) ? Object.entries(v) : [];
}

export function sizeOf(v: Json): number {
  return Array.isArray(v) ? v.length : isObject(v) ? Object.keys(v).length : 0;
}

export function pointer(parent: string, key: string): string {
  return `${parent}/${key.replace(/~/g, "~0").replace(/\//g, "~1")}`;
}

function startsOpen(v: Json, depth: number): boolean {
  const size = sizeOf(v);
  return depth === 0 || (depth === 1 && size <= 12) || (depth === 2 && size <= 6);
}

/** The lines of a value. opened tells what was opened or closed by hand, by path. */
export function linesOf(root: Json, opened: ReadonlyMap<string, boolean>): Line[] {
  const out: Line[] = [];
  const value = (key: string | null, v: Json, path: string, depth: number): void => {
    const expandable = sizeOf(v) > 0;
    const expanded = expandable && (opened.get(path) ?? startsOpen(v, depth));
    out.push({ path, depth, key, value: v, chunk: null, expandable, expanded });
    if (!expanded) return;
    const inside = entries(v);
    if (!Array.isArray(v) || inside.length <= chunkSize) {
      for (const [k, x] of inside) value(k, x, pointer(path, k), depth + 1);
      return;
    }
    for (let from = 0; from < inside.length; from += chunkSize) {
      const to = Math.min(from + chunkSize, inside.length) - 1;
      const chunkPath = `${path}/[${from}…]`;
      const open = opened.get(chunkPath) ?? false;
      out.push({
        path: chunkPath,
        depth: depth + 1,
        key: null,
        value: v,
        chunk: { from, to },
        expandable: true,
        expanded: open,
      });
      if (!open) continue;
      for (const [k, x] of inside.slice(from, to + 1)) value(k, x, pointer(path, k), depth + 2);
    }
  };
  value(null, root, "", 0);
  return out;
}

/** A leaf as text: strings as they are, the rest as JSON. */
export function leafText(v: Json): string {
  if (typeof v === "string") return v;
  if (v instanceof RawNumber) return v.source;
  if (Array.isArray(v)) return v.length === 0 ? "[]" : `[${v.length}]`;
  if (isObject(v)) return sizeOf(v) === 0 ? "{}" : `{${sizeOf(v)}}`;
  return stringify(v);
}

export const mostMatches = 500;

/** The paths where a key or a leaf holds a text, and what has to be open to see them. */
export function search(root: Json, text: string): { paths: string[]; open: string[] } {
  const wanted = text.trim().toLowerCase();
  const paths: string[] = [];
  const open = new Set<string>();
  if (wanted === "") return { paths, open: [] };
  const walk = (key: string | null, v: Json, path: string, above: readonly string[]): void => {
    if (paths.length >= mostMatches) return;
    const leaf = sizeOf(v) === 0;
    if (key?.toLowerCase().includes(wanted) || (leaf && leafText(v).toLowerCase().includes(wanted))) {
      paths.push(path);
      for (const p of above) open.add(p);
    }
    const long = Array.isArray(v) && v.length > chunkSize;
    for (const [i, [k, x]] of entries(v).entries()) {
      const chunk = long ? [`${path}/[${Math.floor(i / chunkSize) * chunkSize}…]`] : [];
      walk(k, x, pointer(path, k), [...above, path, ...chunk]);
    }
  };
  walk(null, root, "", []);
  return { paths, open: [...open] };
}
