import assert from "node:assert/strict";
import test from "node:test";
import { RawNumber } from "../graph/json";
import { LiveClient } from "./client";
import { decodeFrame } from "./frame";
import { RunFeed } from "./run";
import { decodeRun, timeOf } from "./span";
import { at, FakeWorld } from "./testkit";

function setup() {
  const world = new FakeWorld();
  const feed = new RunFeed("1");
  const stop = feed.follow(new LiveClient(world));
  world.socket.onopen?.();
  return { world, feed, stop };
}

const topic = "run:1";
const run = { id: "1", status: "running", started_at: at(0) };
const attempt = (seq: number, status: string, id = "ask@1") => ({
  id,
  seq,
  kind: "attempt",
  parent_id: "ask",
  status,
});

test("follows a run from its snapshot to its end", () => {
  const { world, feed } = setup();
  let told = 0;
  feed.subscribe(() => told++);
  const { socket } = world;
  socket.tell({ type: "snapshot", topic, seq: 2, run, spans: [{ id: "run", kind: "run", seq: 1 }] });
  assert.equal(feed.snapshot().run?.status, "running");
  assert.equal(feed.snapshot().caughtUp, false);
  socket.tell({ type: "caught_up", topic, seq: 3 });
  assert.equal(feed.snapshot().caughtUp, true);
  assert.equal(feed.spans.seq, 3);
  socket.tell({ type: "run", topic, run: { ...run, status: "failed", error: { code: "timeout" } } });
  assert.equal(feed.snapshot().run?.error?.code, "timeout");
  assert.equal(told, 3);
  // What the API has answered before all this does not undo it.
  feed.load(decodeRun(run));
  assert.equal(feed.snapshot().run?.status, "failed");
});

test("a snapshot in parts removes what is gone only when it is complete", () => {
  const { world, feed } = setup();
  const ids = () => [...feed.spans.all()].map((s) => s.id).sort();
  const part = (...spans: [string, number][]) => spans.map(([id, seq]) => attempt(seq, "succeeded", id));
  world.socket.tell({ type: "snapshot", topic, seq: 3, run, spans: part(["gone", 1], ["a", 2], ["z", 3]) });
  world.socket.tell({ type: "caught_up", topic, seq: 3 });
  world.socket.tell({ type: "snapshot", topic, seq: 2, run, spans: part(["a", 2]) });
  assert.deepEqual(ids(), ["a", "gone", "z"]);
  // A break in the middle: the server goes on from what is known.
  world.socket.end();
  world.pass(1_000);
  world.socket.onopen?.();
  world.socket.tell({ type: "spans", topic, seq: 9, spans: part(["b", 5], ["z", 9]) });
  assert.deepEqual(ids(), ["a", "b", "gone", "z"]);
  world.socket.tell({ type: "caught_up", topic, seq: 9 });
  assert.deepEqual(ids(), ["a", "b", "z"]);
  assert.equal(feed.spans.seq, 9);
});

test("keeps streamed text until the attempt has ended", () => {
  const { world, feed } = setup();
  const { socket } = world;
  socket.tell({ type: "snapshot", topic, seq: 1, run, spans: [attempt(1, "running", "old@1")] });
  socket.tell({ type: "caught_up", topic, seq: 1 });
  assert.deepEqual(feed.text("old@1"), { text: "", gap: true });
  socket.tell({ type: "spans", topic, seq: 2, spans: [attempt(2, "running")] });
  socket.tell({ type: "delta", topic, span_id: "ask@1", text: "你" });
  socket.tell({ type: "delta", topic, span_id: "ask@1", text: "好" });
  assert.deepEqual(feed.text("ask@1"), { text: "你好", gap: false });
  socket.tell({ type: "spans", topic, seq: 3, spans: [attempt(3, "succeeded")] });
  assert.equal(feed.text("ask@1"), undefined);
  socket.tell({ type: "delta", topic, span_id: "ask@1", text: "late" });
  assert.equal(feed.text("ask@1"), undefined);
});

test("says that text has a hole after a break", () => {
  const { world, feed } = setup();
  world.socket.tell({ type: "snapshot", topic, seq: 2, run, spans: [] });
  world.socket.tell({ type: "caught_up", topic, seq: 2 });
  world.socket.tell({ type: "spans", topic, seq: 503, spans: [attempt(503, "running")] });
  world.socket.tell({ type: "delta", topic, span_id: "ask@1", text: "one " });
  world.socket.end();
  assert.equal(feed.snapshot().caughtUp, false);
  world.pass(1_000);
  world.socket.onopen?.();
  assert.deepEqual(world.socket.sent, [{ type: "subscribe", topic, after: 303 }]);
  world.socket.tell({ type: "caught_up", topic, seq: 503 });
  world.socket.tell({ type: "delta", topic, span_id: "ask@1", text: "three" });
  assert.deepEqual(feed.text("ask@1"), { text: "one three", gap: true });
});

test("tells when the run is not to be seen", () => {
  const { world, feed, stop } = setup();
  world.socket.tell({ type: "error", topic, code: "not_found", message: "no such run" });
  assert.equal(feed.snapshot().refused, "no such run");
  stop();
  assert.ok(world.socket.closed);
});

test("numbers arrive as they were sent", () => {
  const f = decodeFrame(
    `{"type":"spans","topic":"${topic}","seq":1,"spans":[{"id":"a","kind":"step","seq":1,"output":{"n":9007199254740993,"m":1.50,"k":7,"__proto__":1}}]}`,
  );
  assert.equal(f?.type, "spans");
  const output = f?.type === "spans" ? f.spans[0]?.output : undefined;
  assert.deepEqual(Object.entries(output ?? {}), [
    ["n", new RawNumber("9007199254740993")],
    ["m", new RawNumber("1.50")],
    ["k", 7],
    ["__proto__", 1],
  ]);
});

test("times keep their microseconds; a zero time is none", () => {
  const r = decodeRun({ ...run, ended_at: "0001-01-01T00:00:00Z", started_by: { name: "Ada" }, version: 3 });
  assert.ok(Number.isNaN(r?.end));
  const us = timeOf("2026-01-01T00:00:00.123456Z") - Date.UTC(2026, 0, 1);
  assert.ok(Math.abs(us - 123.456) < 0.001, String(us));
  assert.equal(timeOf("2026-01-01T00:00:01.5Z") - Date.UTC(2026, 0, 1), 1_500);
  assert.equal(r?.started_by, "Ada");
  assert.equal(r?.version, 3);
});
