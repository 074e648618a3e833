import assert from "node:assert/strict";
import test from "node:test";
import { doc, kinds } from "../../graph/testkit";
import { tidy } from "./tidy";

test("keeps chosen places, and moves only what covers each other", () => {
  const at = (x: number, y: number) => ({ x, y });
  const apart = doc([
    { id: "a", type: "set", position: at(0, 0) },
    { id: "b", type: "set", position: at(400, 8) },
  ]);
  assert.deepEqual(tidy(apart, kinds), apart);
  const covered = doc([
    { id: "a", type: "set", position: at(0, 0) },
    { id: "each", type: "loop", position: at(900, 0) },
    { id: "x", type: "set", parent: "each", position: at(24, 60) },
    { id: "y", type: "set", parent: "each", position: at(60, 80) },
  ]);
  const places = new Map(tidy(covered, kinds).nodes.map((n) => [n.id, n.position]));
  assert.deepEqual(places.get("a"), at(0, 0));
  assert.deepEqual(places.get("each"), at(900, 0));
  assert.ok(Math.abs((places.get("x")?.y ?? 0) - (places.get("y")?.y ?? 0)) >= 52);
});
