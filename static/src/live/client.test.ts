import assert from "node:assert/strict";
import test from "node:test";
import { backoff } from "./backoff";
import { LiveClient } from "./client";
import type { Frame } from "./frame";
import { FakeWorld, seeded } from "./testkit";

function setup() {
  const world = new FakeWorld();
  const client = new LiveClient(world);
  const frames: Frame[] = [];
  let seq = 0;
  const watcher = {
    after: () => seq,
    frame(f: Frame) {
      frames.push(f);
      if (f.type === "caught_up") seq = f.seq;
    },
  };
  return { world, client, frames, watcher, known: (n: number) => (seq = n) };
}

test("connects with the first watcher, subscribes, and leaves with the last", () => {
  const { world, client, watcher } = setup();
  assert.equal(world.sockets.length, 0);
  const stop = client.watch("run:1", watcher);
  assert.deepEqual(client.connection(), { state: "connecting" });
  world.socket.onopen?.();
  assert.equal(client.connection().state, "live");
  assert.deepEqual(world.socket.sent, [{ type: "subscribe", topic: "run:1", after: 0 }]);
  const stopInbox = client.watch("inbox", { after: () => 0, frame() {} });
  assert.deepEqual(world.socket.sent.at(-1), { type: "subscribe", topic: "inbox", after: 0 });
  stopInbox();
  assert.deepEqual(world.socket.sent.at(-1), { type: "unsubscribe", topic: "inbox" });
  stop();
  assert.ok(world.socket.closed);
  assert.equal(world.waiting, 0);
  assert.equal(world.changed, null);
});

test("comes back after a break, and goes on from what is known", () => {
  const { world, client, watcher, known } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  known(42);
  world.pass(1_000);
  world.socket.end();
  assert.deepEqual(client.connection(), { state: "reconnecting", since: 1_000, next: 1_375 });
  world.pass(400);
  assert.equal(world.sockets.length, 2);
  world.socket.onopen?.();
  assert.equal(client.connection().state, "live");
  assert.deepEqual(world.socket.sent, [{ type: "subscribe", topic: "run:1", after: 42 }]);
});

test("tells since when it is down, however often it tries", () => {
  const { world, client, watcher } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  world.pass(5_000);
  for (let i = 0; i < 6; i++) {
    world.socket.end();
    const c = client.connection();
    assert.equal(c.state === "reconnecting" && c.since, 5_000);
    if (c.state === "reconnecting") world.pass(c.next - world.now());
  }
  assert.equal(world.sockets.length, 7);
});

test("a frame goes to the watchers of its topic alone", () => {
  const { world, client, watcher, frames } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  world.socket.tell({ type: "caught_up", topic: "run:1", seq: 7 });
  world.socket.tell({ type: "caught_up", topic: "run:2", seq: 9 });
  world.socket.tell({ type: "of a later version", topic: "run:1" });
  world.socket.onmessage?.({ data: "no JSON" });
  world.socket.onmessage?.({ data: new ArrayBuffer(2) });
  assert.deepEqual(frames, [{ type: "caught_up", topic: "run:1", seq: 7 }]);
});

test("asks for everything when the server has dropped some", () => {
  const { world, client, watcher, known } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  known(42);
  world.socket.tell({ type: "resync", topic: "run:1" });
  assert.deepEqual(world.socket.sent.at(-1), { type: "subscribe", topic: "run:1", after: 0 });
});

test("gives up a connection that is silent, and keeps one that answers", () => {
  const { world, client, watcher } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  world.pass(20_000);
  assert.deepEqual(world.socket.sent.at(-1), { type: "ping" });
  world.socket.tell({ type: "pong" });
  world.pass(20_000);
  assert.equal(client.connection().state, "live");
  world.pass(8_000);
  assert.equal(client.connection().state, "reconnecting");
  assert.ok(world.sockets[0]?.closed);
});

test("gives up a try that hangs", () => {
  const { world, client, watcher } = setup();
  client.watch("run:1", watcher);
  world.pass(15_000);
  assert.equal(client.connection().state, "reconnecting");
});

test("does not try without a network, and tries at once when there is one", () => {
  const { world, client, watcher } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  world.pass(100);
  world.isOnline = false;
  world.changed?.();
  assert.deepEqual(client.connection(), { state: "offline", since: 100 });
  world.pass(600_000);
  assert.equal(world.sockets.length, 1);
  world.isOnline = true;
  world.changed?.();
  assert.equal(world.sockets.length, 2);
});

test("looks after a connection when its page is shown again", () => {
  const { world, client, watcher } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  world.changed?.();
  assert.deepEqual(world.socket.sent.at(-1), { type: "ping" });
  world.pass(8_000);
  assert.equal(client.connection().state, "reconnecting");
});

test("what an old socket still says is not heard", () => {
  const { world, client, watcher, frames } = setup();
  client.watch("run:1", watcher);
  const old = world.socket;
  const hear = old.onmessage;
  world.socket.end();
  world.pass(1_000);
  world.socket.onopen?.();
  assert.equal(old.onmessage, null);
  assert.notEqual(hear, null);
  assert.deepEqual(frames, []);
});

test("waits longer with each failure, within bounds, never the same for all", () => {
  const random = seeded(1);
  let longest = 0;
  for (let failures = 0; failures < 50; failures++) {
    const wait = backoff(failures, random);
    const full = Math.min(20_000, 500 * 2 ** failures);
    assert.ok(wait >= full / 2 && wait <= full, `${failures}: ${wait}`);
    longest = Math.max(longest, wait);
  }
  assert.ok(longest > 10_000);
});

test("does not come back when the session has ended", () => {
  const { world, client, watcher } = setup();
  client.watch("run:1", watcher);
  world.socket.onopen?.();
  world.pass(100);
  world.socket.end(4401);
  assert.deepEqual(client.connection(), { state: "signed_out", since: 100 });
  client.retryNow();
  world.changed?.();
  client.watch("inbox", watcher);
  world.pass(600_000);
  assert.equal(world.sockets.length, 1);
  assert.equal(world.waiting, 0);
});
