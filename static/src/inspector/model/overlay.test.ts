import assert from "node:assert/strict";
import test from "node:test";
import { doc, kinds } from "../../graph/testkit";
import type { Span } from "../../live/span";
import { SpanStore } from "../../live/spans";
import { span } from "../../live/testkit";
import { overlayOf, picksFor } from "./overlay";

const definition = doc(
  [
    { id: "start", type: "trigger" },
    { id: "each", type: "loop" },
    { id: "check", type: "condition", parent: "each" },
    { id: "yes", type: "set", parent: "each" },
    { id: "no", type: "set", parent: "each" },
    { id: "both", type: "set", parent: "each" },
    { id: "ask", type: "llm_call", on_error: "branch" },
    { id: "fine", type: "end" },
    { id: "broken", type: "end" },
  ],
  [
    { source: "start", target: "each" },
    { source: "check", target: "yes", handle: "then" },
    { source: "check", target: "no", handle: "else" },
    { source: "check", target: "both" },
    { source: "each", target: "ask" },
    { source: "ask", target: "fine" },
    { source: "ask", target: "broken", handle: "error" },
  ],
);

function store(more: Span[] = []): SpanStore {
  const s = new SpanStore();
  const step = (address: string, status: string, fields: Partial<Span> = {}): Span =>
    span({ id: address, address, status, seq: 1, start: 1, ...fields });
  s.upsert([
    step("start", "succeeded"),
    step("each", "running", { input: { collection: [1, 2, 3] } }),
    step("each[0]", "failed", { kind: "iteration", parent_id: "each" }),
    step("each[0]/check", "succeeded", { attributes: { handle: "then" } }),
    step("each[0]/yes", "failed"),
    step("each[0]/no", "skipped"),
    step("each[1]", "running", { kind: "iteration", parent_id: "each" }),
    step("each[1]/check", "succeeded", { attributes: { handle: "else" } }),
    ...more,
  ]);
  return s;
}

const states = (o: ReturnType<typeof overlayOf>, ...keys: string[]) => keys.map((k) => o.edges.get(k));

test("shows the iteration that works until another is picked", () => {
  const live = overlayOf(definition, kinds, store(), new Map());
  assert.deepEqual(live.nodes.get("each")?.progress, {
    done: 1,
    failed: 1,
    running: 1,
    total: 3,
    indexes: [0, 1],
    shown: 1,
    address: "each",
  });
  assert.equal(live.nodes.get("yes")?.status, "");
  assert.deepEqual(states(live, "e0", "e1", "e2", "e3", "e4"), ["taken", "dead", "taken", "taken", "open"]);
  const picked = overlayOf(definition, kinds, store(), picksFor("each[0]/yes"));
  assert.equal(picked.nodes.get("yes")?.status, "failed");
  assert.equal(picked.nodes.get("no")?.status, "skipped");
  assert.deepEqual(states(picked, "e1", "e2", "e3"), ["taken", "dead", "taken"]);
});

test("a failure that is handled goes out by its error handle alone", () => {
  const failed = store([span({ id: "ask", address: "ask", seq: 5, status: "failed" })]);
  assert.deepEqual(states(overlayOf(definition, kinds, failed, new Map()), "e5", "e6"), ["dead", "taken"]);
  const fine = store([span({ id: "ask", address: "ask", seq: 5, status: "succeeded" })]);
  assert.deepEqual(states(overlayOf(definition, kinds, fine, new Map()), "e5", "e6"), ["taken", "dead"]);
});

test("edges with conditions of their own are taken as the engine says", () => {
  const d = doc(
    [
      { id: "start", type: "trigger" },
      { id: "one", type: "set" },
      { id: "two", type: "set" },
    ],
    [
      { source: "start", target: "one", condition: "a" },
      { source: "start", target: "one", condition: "b" },
      { source: "start", target: "two", condition: "c" },
    ],
  );
  const s = new SpanStore();
  s.upsert([
    span({ id: "start", address: "start", status: "succeeded", seq: 1, attributes: { taken: [1] } }),
  ]);
  assert.deepEqual(states(overlayOf(d, kinds, s, new Map()), "e0", "e1", "e2"), ["dead", "taken", "dead"]);
});

test("the last round of a step counts", () => {
  const again = store([
    span({ id: "ask", address: "ask", seq: 5, status: "failed" }),
    span({ id: "ask#1", address: "ask", round: 1, seq: 6, status: "running" }),
  ]);
  assert.equal(overlayOf(definition, kinds, again, new Map()).nodes.get("ask")?.status, "running");
});

test("an address tells the iterations that it is in", () => {
  assert.deepEqual(
    [...picksFor("outer[2]/inner[13]/step")],
    [
      ["outer", 2],
      ["outer[2]/inner", 13],
    ],
  );
  assert.deepEqual([...picksFor("plain")], []);
});
