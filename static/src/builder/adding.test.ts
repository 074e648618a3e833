import assert from "node:assert/strict";
import { test } from "node:test";
import { specOf } from "../graph/spec";
import { doc, kinds, sample } from "../graph/testkit";
import { freshNode, putNode, targetAfter } from "./adding";
import type { AddTarget } from "./state";

const nowhere: AddTarget = { at: null, parent: "", from: null, edge: null };

function added(d: ReturnType<typeof sample>, type: string, target: AddTarget) {
  const node = freshNode(d, kinds, specOf(kinds, type), target, { x: 0, y: 0 });
  return { node, after: putNode(d, kinds, node, target) };
}

const edges = (d: ReturnType<typeof sample>) => d.edges.map((e) => `${e.source}.${e.handle}>${e.target}`);

test("a step follows the selected one, by the first output that leads nowhere", () => {
  const d = doc([{ id: "c", type: "condition", position: { x: 0, y: 0 } }]);
  const first = added(d, "set", targetAfter(d, kinds, "c", undefined)).after;
  assert.deepEqual(edges(first), ["c.then>set"]);
  const second = added(first, "set", targetAfter(first, kinds, "c", undefined));
  assert.deepEqual(edges(second.after), ["c.then>set", "c.else>set-2"]);
  assert.notDeepEqual(second.node.position, first.nodes[1]?.position);
});

test("the first step of an empty container goes into it", () => {
  const d = doc([{ id: "l", type: "loop", position: { x: 100, y: 100 } }]);
  const target = targetAfter(d, kinds, "l", undefined);
  assert.equal(target.parent, "l");
  const { node } = added(d, "set", target);
  assert.ok((node.position?.x ?? 0) < 100 && (node.position?.y ?? 0) > 40);
});

test("nothing follows an end, and nothing selected means nowhere", () => {
  assert.equal(targetAfter(sample(), kinds, "done", undefined).from, null);
  assert.deepEqual(targetAfter(sample(), kinds, undefined, undefined), nowhere);
  assert.deepEqual(targetAfter(sample(), kinds, "gone", "e99"), nowhere);
});

test("a step goes onto the selected edge, in its body", () => {
  const d = sample();
  const key = d.edges.find((e) => e.source === "work")?.key;
  const target = targetAfter(d, kinds, undefined, key);
  assert.deepEqual([target.parent, target.edge], ["each", key]);
  const { after } = added(d, "condition", target);
  assert.ok(edges(after).includes("work.>condition"));
  assert.ok(edges(after).includes("condition.then>review"));
});

test("what can't stand on an edge is only added", () => {
  const d = sample();
  const { after } = added(d, "end", { ...nowhere, edge: d.edges[0]?.key ?? "" });
  assert.deepEqual(edges(after), edges(d));
  assert.equal(after.nodes.length, d.nodes.length + 1);
});
