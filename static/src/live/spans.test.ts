import assert from "node:assert/strict";
import test from "node:test";
import type { Span } from "./span";
import { SpanStore } from "./spans";
import { seeded, span } from "./testkit";
import { buildTree, type SpanNode } from "./tree";

/** A run as a server would record it: every change of a span, under a growing seq. */
function history(random: () => number, steps: number): Span[] {
  const log: Span[] = [];
  let seq = 0;
  const put = (id: string, fields: Partial<Span>) => log.push(span({ ...fields, id, seq: ++seq }));
  put("run", { kind: "run", parent_id: "" });
  for (let i = 0; i < steps; i++) {
    const loop = random() < 0.4 ? `each[${Math.floor(random() * 5)}]` : "";
    const parent = loop === "" ? "run" : loop;
    const id = loop === "" ? `s${i}` : `${loop}/s${i}`;
    const start = Math.floor(random() * 5);
    if (loop !== "") put(loop, { kind: "iteration", parent_id: "each", address: loop, start });
    for (const status of ["running", "retrying", "succeeded"]) put(id, { parent_id: parent, status, start });
    put(`${id}@1`, { kind: "attempt", parent_id: id, attempt: 1 });
  }
  put("each", { parent_id: "run", start: 2 });
  put("run", { kind: "run", parent_id: "", status: "succeeded" });
  return log;
}

/** A snapshot, in parts of so many spans. */
function replace(store: SpanStore, spans: readonly Span[], seq: number, size = 7): void {
  store.begin();
  const sorted = [...spans].sort((a, b) => a.seq - b.seq);
  for (let i = 0; i < sorted.length; i += size) {
    const part = sorted.slice(i, i + size);
    store.upsert(part, part.at(-1)?.seq ?? 0);
  }
  store.complete(seq);
}

function latest(log: readonly Span[], upTo = Number.POSITIVE_INFINITY): Span[] {
  const byId = new Map<string, Span>();
  for (const s of log) if (s.seq <= upTo) byId.set(s.id, s);
  return [...byId.values()];
}

function content(store: SpanStore): Span[] {
  return [...store.all()].sort((a, b) => a.seq - b.seq);
}

function outline(nodes: readonly SpanNode[]): unknown[] {
  return nodes.map((n) => [n.span.id, n.span.seq, n.attempts.map((a) => a.id), outline(n.children)]);
}

function shuffle<T>(items: T[], random: () => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}

test("reordered and repeated spans lead to the same content and the same tree", () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = seeded(seed);
    const log = history(random, 1 + Math.floor(random() * 30));
    const want = new SpanStore();
    want.upsert(latest(log));
    const got = new SpanStore();
    const noise = log.filter(() => random() < 0.5);
    for (const s of shuffle([...log, ...noise], random)) got.upsert([s]);
    assert.deepEqual(content(got), content(want), `seed ${seed}`);
    assert.deepEqual(outline(buildTree(got)), outline(buildTree(want)), `seed ${seed}`);
  }
});

/**
 * The server's side of a subscription. Frames that it has sent get lost when the
 * connection breaks; when its queue overflows it drops what it has and says resync.
 */
class Sender {
  private sentTo = 0;
  constructor(
    private readonly log: readonly Span[],
    private readonly random: () => number,
  ) {}

  subscribe(store: SpanStore, now: number): void {
    // "Too old" is a thing of the server's; it may always answer with everything.
    if (store.seq === 0 || this.random() < 0.2) replace(store, latest(this.log, now), now);
    else this.send(store, store.seq, now, false);
    this.sentTo = now;
  }

  update(store: SpanStore, now: number, lost: boolean): void {
    this.send(store, this.sentTo, now, lost);
    this.sentTo = now;
  }

  private send(store: SpanStore, from: number, to: number, lost: boolean): void {
    if (lost) return;
    const spans = latest(this.log, to).filter((s) => s.seq > from);
    store.upsert(shuffle(spans, this.random), to);
    if (this.random() < 0.3) store.upsert(spans.slice(1), to);
  }
}

test("breaks, losses and resyncs at any moment converge on the server's state", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seeded(seed);
    const log = history(random, 1 + Math.floor(random() * 25));
    const store = new SpanStore();
    const sender = new Sender(log, random);
    let connected = false;
    for (let now = 0; now < log.length; now += 1 + Math.floor(random() * 6)) {
      const event = random();
      if (!connected) {
        sender.subscribe(store, now);
        connected = true;
      } else if (event < 0.15) {
        sender.update(store, now, true); // on its way when the connection broke
        connected = false;
      } else if (event < 0.3) {
        replace(store, latest(log, now), now); // resync, answered by a snapshot
        sender.update(store, now, true);
      } else {
        sender.update(store, now, false);
      }
      const known = latest(log, store.seq);
      for (const s of known) assert.ok((store.get(s.id)?.seq ?? 0) >= s.seq, `seed ${seed}: gap at ${s.id}`);
    }
    sender.subscribe(store, log.length);
    assert.deepEqual(
      content(store),
      latest(log).sort((a, b) => a.seq - b.seq),
      `seed ${seed}`,
    );
  }
});

test("a snapshot removes what is gone and keeps what is newer", () => {
  const store = new SpanStore();
  store.upsert([span({ id: "old", seq: 1 }), span({ id: "a", seq: 2 }), span({ id: "new", seq: 9 })], 3);
  replace(store, [span({ id: "a", seq: 4, status: "succeeded" })], 5);
  assert.deepEqual(
    content(store).map((s) => [s.id, s.seq]),
    [
      ["a", 4],
      ["new", 9],
    ],
  );
  assert.equal(store.seq, 5);
  const before = store.version;
  assert.equal(store.upsert([span({ id: "a", seq: 3 })]), false);
  assert.equal(store.version, before);
});

test("the tree: iterations by number, steps by start, ties by definition, lost ones in sight", () => {
  const store = new SpanStore();
  const t = Date.UTC(2026, 0, 1);
  store.upsert([
    span({ id: "run", seq: 1, kind: "run", parent_id: "" }),
    span({ id: "each[10]", seq: 2, kind: "iteration", parent_id: "each", address: "each[10]", start: t }),
    span({ id: "each[9]", seq: 3, kind: "iteration", parent_id: "each", address: "each[9]", start: t + 5 }),
    span({ id: "each", seq: 4, start: t + 1 }),
    span({ id: "skipped", seq: 5, status: "skipped" }),
    span({ id: "b", seq: 6, start: t, node_id: "b" }),
    span({ id: "a", seq: 7, start: t, node_id: "a" }),
    span({ id: "a@2", seq: 8, kind: "attempt", parent_id: "a", attempt: 2 }),
    span({ id: "a@1", seq: 9, kind: "attempt", parent_id: "a", attempt: 1 }),
    span({ id: "orphan", seq: 10, parent_id: "not come yet", start: t + 2 }),
    span({ id: "x", seq: 11, parent_id: "y", start: t + 3 }),
    span({ id: "y", seq: 12, parent_id: "x", start: t + 3 }),
    span({ id: "self", seq: 13, parent_id: "self", start: t + 4 }),
  ]);
  const names = (n: readonly SpanNode[]): string[] => n.map((c) => c.span.id);
  const [run, ...more] = buildTree(store, (id) => ["b", "a"].indexOf(id));
  assert.deepEqual(more, []);
  assert.deepEqual(names(run?.children ?? []), ["b", "a", "each", "orphan", "x", "self", "skipped"]);
  assert.deepEqual(names(run?.children[2]?.children ?? []), ["each[9]", "each[10]"]);
  assert.deepEqual(names(run?.children[4]?.children ?? []), ["y"]);
  assert.deepEqual(
    run?.children[1]?.attempts.map((a) => a.id),
    ["a@1", "a@2"],
  );
});
