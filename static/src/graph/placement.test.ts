import assert from "node:assert/strict";
import { test } from "node:test";
import { belowAll, clearOf, inBody, rightOf } from "./placement";
import { sizesOf } from "./sizes";
import { kinds, sample } from "./testkit";

test("a new step covers none that is there", () => {
  const d = sample();
  const size = { width: 236, height: 52 };
  const sizes = sizesOf(d, kinds);
  for (let x = -100; x < 1500; x += 60) {
    for (let y = -100; y < 400; y += 60) {
      const p = clearOf(d, kinds, { x, y }, size, "");
      assert.ok(p.y >= y - 8, "only ever moves down");
      for (const n of d.nodes.filter((o) => o.parent === "")) {
        const [at, s] = [n.position, sizes.get(n.id)];
        if (!at || !s) continue;
        const apart =
          p.x >= at.x + s.width ||
          at.x >= p.x + size.width ||
          p.y >= at.y + s.height ||
          at.y >= p.y + size.height;
        assert.ok(apart, `${x},${y} covers ${n.id}`);
      }
    }
  }
});

test("places in a container stay clear of its border", () => {
  assert.deepEqual(inBody({ x: -5, y: 3 }, "each"), { x: 24, y: 56 });
  assert.deepEqual(inBody({ x: -5, y: 3 }, ""), { x: -5, y: 3 });
  const p = belowAll(sample(), kinds, "each");
  assert.ok(p.y > 60 + 52);
});

test("what follows a step stands right of it", () => {
  assert.deepEqual(rightOf(sample(), kinds, "ask"), { x: 300 + 236 + 72, y: 0 });
  assert.equal(rightOf(sample(), kinds, "nobody"), null);
});
