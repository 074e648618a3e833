import assert from "node:assert/strict";
import { test } from "node:test";
import type { Definition } from "./definition";
import { absolutePositions, autoLayout, placeMissing } from "./layout";
import { sizesOf } from "./sizes";
import { doc, kinds, random, sample } from "./testkit";
import { ancestors } from "./tree";

/** Pairs of siblings that cover one another. */
function overlaps(d: Definition): string[] {
  const sizes = sizesOf(d, kinds);
  const out: string[] = [];
  for (const a of d.nodes) {
    for (const b of d.nodes) {
      if (a.id >= b.id || a.parent !== b.parent) continue;
      const [p, q, s, t] = [a.position, b.position, sizes.get(a.id), sizes.get(b.id)];
      if (!p || !q || !s || !t) out.push(`${a.id} or ${b.id} has no place`);
      else if (p.x < q.x + t.width && q.x < p.x + s.width && p.y < q.y + t.height && q.y < p.y + s.height) {
        out.push(`${a.id} and ${b.id}`);
      }
    }
  }
  return out;
}

test("a layout reads from left to right, with nothing on top of anything", () => {
  const d = autoLayout(sample(), kinds);
  assert.deepEqual(overlaps(d), []);
  const at = absolutePositions(d);
  for (const e of d.edges)
    assert.ok((at.get(e.source)?.x ?? 0) < (at.get(e.target)?.x ?? 0), `${e.source} ${e.target}`);
});

test("containers hold their content", () => {
  const d = autoLayout(sample(), kinds);
  const sizes = sizesOf(d, kinds);
  for (const n of d.nodes) {
    const [parent] = ancestors(d, n.id);
    const [own, outer] = [sizes.get(n.id), sizes.get(parent?.id ?? "")];
    if (!parent || !own || !outer || !n.position) continue;
    assert.ok(n.position.x >= 0 && n.position.y >= 40);
    assert.ok(n.position.x + own.width <= outer.width && n.position.y + own.height <= outer.height);
  }
});

test("what follows then stands above what follows else", () => {
  const d = autoLayout(
    doc(
      [
        { id: "c", type: "condition" },
        { id: "no", type: "set" },
        { id: "yes", type: "loop" },
        { id: "in", type: "set", parent: "yes" },
        { id: "join", type: "set" },
      ],
      [
        { source: "c", target: "no", handle: "else" },
        { source: "c", target: "yes", handle: "then" },
        { source: "no", target: "join" },
        { source: "yes", target: "join" },
      ],
    ),
    kinds,
  );
  const y = (id: string) => d.nodes.find((n) => n.id === id)?.position?.y ?? 0;
  assert.ok(y("yes") < y("no"));
});

test("random documents are laid out without overlaps", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const next = random(seed);
    const nodes = Array.from({ length: 25 }, (_, i) => {
      const type = next(4) === 0 ? "loop" : next(3) === 0 ? "condition" : "set";
      return { id: `n${i}`, type };
    });
    const loops = nodes.filter((n) => n.type === "loop").map((n) => n.id);
    // A parent always comes before its children, so parents form no circle.
    const inside = nodes.map((n, i) => ({
      ...n,
      parent: loops.filter((l) => Number(l.slice(1)) < i)[next(4)] ?? "",
    }));
    const edges = Array.from({ length: 30 }, () => [next(25), next(25)] as const)
      .filter(([a, b]) => a < b && inside[a]?.parent === inside[b]?.parent)
      .map(([a, b]) => ({ source: `n${a}`, target: `n${b}` }));
    const d = autoLayout(doc(inside, edges), kinds);
    assert.deepEqual(overlaps(d), [], `seed ${seed}`);
  }
});

test("only bodies in which a place is missing are laid out", () => {
  const d = sample();
  assert.equal(placeMissing(d, kinds), d);
  const nodes = d.nodes.map((n) => (n.id === "work" ? { ...n, position: null } : n));
  const placed = placeMissing({ ...d, nodes }, kinds);
  assert.ok(placed.nodes.every((n) => n.position !== null));
});

test("two thousand steps are laid out in reasonable time", () => {
  const nodes = Array.from({ length: 2_000 }, (_, i) => ({ id: `n${i}`, type: "set" }));
  const edges = nodes.slice(1).map((n, i) => ({ source: `n${Math.floor(i / 3)}`, target: n.id }));
  const start = performance.now();
  const d = autoLayout(doc(nodes, edges), kinds);
  assert.ok(d.nodes.every((n) => n.position !== null));
  assert.ok(performance.now() - start < 30_000);
});
