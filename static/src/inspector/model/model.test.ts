import assert from "node:assert/strict";
import test from "node:test";
import type { Span } from "../../live/span";
import { SpanStore } from "../../live/spans";
import { seeded, span } from "../../live/testkit";
import { buildTree, type SpanNode } from "../../live/tree";
import { shownStatus } from "./activity";
import { busyTimes, merge, partsOf, rangeOf } from "./bar";
import { cost, duration, relative, ticking } from "./format";
import { failuresIn, keysAbove, latestActive, neighbour, rowsOf, treeOrder } from "./rows";
import { everything, moved, Scale, zoomed } from "./scale";

let seq = 0;
function node(fields: Partial<Span> & { id: string }, attempts: Partial<Span>[] = []): SpanNode {
  const s = span({ ...fields, seq: ++seq });
  return {
    span: s,
    children: [],
    attempts: attempts.map((a, i) =>
      span({ ...a, id: `${s.id}@${i + 1}`, seq: ++seq, kind: "attempt", attempt: i + 1, parent_id: s.id }),
    ),
  };
}

const waits = (type: string): boolean => type === "wait";
const parts = (n: SpanNode, now: number): string[] =>
  partsOf(n, now, waits).map((p) => `${p.kind} ${p.from}-${p.to}${p.open ? " …" : ""}`);

test("a bar is made of attempts, the waits between them, and the wait for an answer", () => {
  const cases: { name: string; node: SpanNode; want: string[] }[] = [
    {
      name: "one attempt",
      node: node({ id: "a", status: "succeeded", start: 0, end: 50 }, [
        { status: "succeeded", start: 0, end: 50 },
      ]),
      want: ["work 0-50"],
    },
    {
      name: "an attempt that began later than its step",
      node: node({ id: "a", status: "succeeded", start: 0, end: 50 }, [
        { status: "succeeded", start: 9, end: 50 },
      ]),
      want: ["lead 0-9", "work 9-50"],
    },
    {
      name: "two failed attempts and a third that runs",
      node: node({ id: "a", status: "running", start: 0 }, [
        { status: "failed", start: 0, end: 10 },
        { status: "failed", start: 30, end: 40 },
        { status: "running", start: 80 },
      ]),
      want: ["work 0-10", "backoff 10-30", "work 30-40", "backoff 40-80", "work 80-100 …"],
    },
    {
      name: "waiting for the next attempt, which is known",
      node: node(
        {
          id: "a",
          status: "retrying",
          start: 0,
          attributes: { next_attempt_at: new Date(160).toISOString() },
        },
        [{ status: "failed", start: 0, end: 10 }],
      ),
      want: ["work 0-10", "backoff 10-160 …"],
    },
    {
      name: "an approval that is pending",
      node: node({ id: "a", status: "parked", start: 0 }, [{ status: "parked", start: 0, end: 5 }]),
      want: ["work 0-5", "wait 5-100 …"],
    },
    {
      name: "an approval that was given",
      node: node({ id: "a", status: "succeeded", start: 0, end: 90 }, [
        { status: "parked", start: 0, end: 5 },
      ]),
      want: ["work 0-5", "wait 5-90"],
    },
    { name: "pure", node: node({ id: "a", status: "succeeded", start: 3, end: 4 }), want: ["work 3-4"] },
    {
      name: "a timer that has run out",
      node: node({ id: "a", status: "succeeded", node_type: "wait", start: 3, end: 9 }),
      want: ["wait 3-9"],
    },
    { name: "skipped", node: node({ id: "a", status: "skipped", start: 3, end: 3 }), want: [] },
    { name: "an iteration", node: node({ id: "a", kind: "iteration", start: 3 }), want: ["frame 3-100 …"] },
  ];
  for (const c of cases) assert.deepEqual(parts(c.node, 100), c.want, c.name);
});

test("work is merged, and the range takes in retries that are due", () => {
  assert.deepEqual(
    merge([
      { from: 5, to: 9 },
      { from: 0, to: 3 },
      { from: 2, to: 4 },
    ]),
    [
      { from: 0, to: 4 },
      { from: 5, to: 9 },
    ],
  );
  const run = node({ id: "run", kind: "run", start: 10, status: "running" });
  run.children.push(node({ id: "a", status: "succeeded", start: 12, end: 20 }));
  const retrying = node({
    id: "b",
    status: "retrying",
    start: 15,
    attributes: { next_attempt_at: new Date(99).toISOString() },
  });
  run.children.push(retrying);
  assert.deepEqual(busyTimes([run], 50, waits)[0], { from: 12, to: 50 });
  assert.deepEqual(rangeOf([run], 50), { from: 10, to: 99 });
  assert.deepEqual(rangeOf([], 50), { from: 50, to: 51 });
});

test("the scale cuts long waits short, grows steadily, and can be inverted", () => {
  for (let seed = 0; seed < 100; seed++) {
    const random = seeded(seed);
    const busy = merge(
      Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
        const from = random() * 10 ** (2 + random() * 7);
        return { from, to: from + random() * 5_000 };
      }),
    );
    const range = { from: 0, to: (busy.at(-1)?.to ?? 0) + random() * 1e6 };
    const scale = new Scale(range, busy);
    assert.equal(scale.at(range.from), 0);
    assert.ok(Math.abs(scale.at(range.to) - 1) < 1e-9);
    let last = -1;
    for (let i = 0; i <= 50; i++) {
      const t = (range.to * i) / 50;
      const at = scale.at(t);
      assert.ok(at >= last, `seed ${seed}: not monotonic at ${t}`);
      assert.ok(Math.abs(scale.timeAt(at) - t) < 1e-3 * Math.max(1, range.to), `seed ${seed}`);
      last = at;
    }
    for (const most of [3, 8]) {
      const ticks = scale.ticks(everything, most);
      assert.ok(ticks.length <= most * 2 + 2, `seed ${seed}: ${ticks.length} ticks`);
      assert.ok(ticks.every((t, i) => i === 0 || t.at > (ticks[i - 1]?.at ?? 0)));
    }
  }
  const waited = new Scale({ from: 0, to: 172_804_000 }, [
    { from: 0, to: 2_000 },
    { from: 172_802_000, to: 172_804_000 },
  ]);
  assert.deepEqual(
    waited.breaks.map((b) => b.label),
    ["2 d 00 h"],
  );
  assert.ok(waited.at(2_000) > 0.4);
  const whole = new Scale({ from: 0, to: 10 });
  assert.deepEqual(whole.breaks, []);
  assert.equal(whole.at(5), 0.5);
});

test("zooming keeps what is under the pointer, and stays within the axis", () => {
  const v = zoomed(everything, 2, 0.25);
  assert.deepEqual(v, { from: 0.125, to: 0.625 });
  assert.deepEqual(zoomed(v, 0.001), everything);
  assert.deepEqual(moved(v, 10), { from: 0.5, to: 1 });
  assert.deepEqual(moved(v, -10), { from: 0, to: 0.5 });
});

/** run → start, each[0..n) → work, done */
function looped(n: number, failed: ReadonlySet<number> = new Set()): SpanStore {
  const store = new SpanStore();
  const spans = [
    span({ id: "run", kind: "run", parent_id: "", seq: 1, start: 0 }),
    span({ id: "start", name: "Start", seq: 2, start: 0, status: "succeeded" }),
    span({ id: "each", seq: 3, start: 1, status: "running", address: "each" }),
  ];
  for (let i = 0; i < n; i++) {
    const status = failed.has(i) ? "failed" : "succeeded";
    const id = `each[${i}]`;
    spans.push(span({ id, kind: "iteration", parent_id: "each", address: id, seq: 10, start: i, status }));
    spans.push(
      span({
        id: `${id}/work`,
        name: "Work",
        parent_id: id,
        address: `${id}/work`,
        seq: 10,
        start: i,
        status,
      }),
    );
  }
  store.upsert(spans);
  return store;
}

const none = {
  toggled: new Map<string, boolean>(),
  filter: { text: "", failedOnly: false },
  revealed: new Set<string>(),
};

test("rows: small loops are open, long ones come in pages", () => {
  const keys = (store: SpanStore, o = none): string[] => rowsOf(buildTree(store), o).map((r) => r.key);
  assert.deepEqual(keys(looped(2)), [
    "run",
    "start",
    "each",
    "each[0]",
    "each[0]/work",
    "each[1]",
    "each[1]/work",
  ]);
  assert.equal(keys(looped(100)).length, 103);
  const paged = looped(1_000);
  assert.equal(keys(paged).length, 13);
  assert.equal(keys(paged)[3], "each[0…]");
  const toggled = new Map([["each[9…]", true]]);
  assert.equal(keys(paged, { ...none, toggled }).length, 113);
  const revealed = new Set(keysAbove((id) => paged.get(id), "each[512]/work"));
  assert.deepEqual([...revealed], ["each[512]", "each[5…]", "each", "run"]);
  assert.ok(keys(paged, { ...none, revealed }).includes("each[512]/work"));
  const closed = new Map([["each", false]]);
  assert.deepEqual(keys(paged, { ...none, toggled: closed }), ["run", "start", "each"]);
});

test("rows: the lines at the left go on where a sibling follows", () => {
  const rows = rowsOf(buildTree(looped(2)), none);
  assert.deepEqual(
    rows.map((r) => [r.level, r.position, r.siblings, r.last]),
    [
      [1, 1, 1, true],
      [2, 1, 2, false],
      [2, 2, 2, true],
      [3, 1, 2, false],
      [4, 1, 1, true],
      [3, 2, 2, true],
      [4, 1, 1, true],
    ],
  );
  assert.deepEqual(rows[4]?.guides, [false, false, true]);
});

test("a filter leaves what matches and what leads there", () => {
  const store = looped(300, new Set([7, 250]));
  const tree = buildTree(store);
  const failed = rowsOf(tree, { ...none, filter: { text: "", failedOnly: true } });
  assert.deepEqual(
    failed.map((r) => r.key),
    ["run", "each", "each[7]", "each[7]/work", "each[250]", "each[250]/work"],
  );
  assert.deepEqual(failuresIn(tree), ["each[7]/work", "each[250]/work"]);
  assert.deepEqual(
    rowsOf(tree, { ...none, filter: { text: "START", failedOnly: false } }).map((r) => r.key),
    ["run", "start"],
  );
  assert.deepEqual(rowsOf(tree, { ...none, filter: { text: "nothing", failedOnly: false } }), []);
});

test("a failure that a later round made good is none", () => {
  const store = looped(1);
  store.upsert([
    span({ id: "ask", address: "ask", seq: 50, status: "failed" }),
    span({ id: "ask#1", address: "ask", round: 1, seq: 51, status: "succeeded" }),
  ]);
  assert.deepEqual(failuresIn(buildTree(store)), []);
});

test("goes from failure to failure, round at the ends", () => {
  const tree = buildTree(looped(300, new Set([7, 250])));
  const [failures, order] = [failuresIn(tree), treeOrder(tree)];
  const go = (from: string, step: 1 | -1) => neighbour(failures, order, from, step);
  assert.equal(go("run", 1), "each[7]/work");
  assert.equal(go("each[7]/work", 1), "each[250]/work");
  assert.equal(go("each[250]/work", 1), "each[7]/work");
  assert.equal(go("each[100]", -1), "each[7]/work");
  assert.equal(go("run", -1), "each[250]/work");
  assert.equal(neighbour([], order, "run", 1), null);
});

test("follows what works before what waits, and the inside of containers", () => {
  const store = looped(3);
  const latest = () => latestActive(buildTree(store));
  assert.equal(latest(), null);
  store.upsert([span({ id: "ask", seq: 50, status: "parked", start: 99 })]);
  assert.equal(latest(), "ask");
  store.upsert([span({ id: "each[2]/work", parent_id: "each[2]", seq: 51, status: "running", start: 1 })]);
  assert.equal(latest(), "each[2]/work");
});

test("durations, amounts and sums", () => {
  const cases: [number, string][] = [
    [Number.NaN, ""],
    [-5, "0 ms"],
    [0.2, "<1 ms"],
    [999.4, "999 ms"],
    [1_239, "1.23 s"],
    [59_999, "59.9 s"],
    [187_000, "3 m 07 s"],
    [3_600_000, "1 h 00 m"],
    [187_200_000, "2 d 04 h"],
  ];
  for (const [ms, want] of cases) assert.equal(duration(ms), want);
  assert.equal(ticking(12_345), "12.3 s");
  assert.equal(relative(5_000, 0), "in 5 s");
  assert.equal(relative(0, 65_000), "1 m 05 s ago");
  assert.equal(cost(0), "");
  assert.equal(cost(1_234), "$0.0012");
  assert.equal(cost(2_340_000), "$2.34");
});

test("a container waits when all that is open in it does", () => {
  const store = looped(2);
  const run = () => buildTree(store)[0];
  const shown = (n: SpanNode | undefined) => (n === undefined ? "" : shownStatus(n));
  assert.equal(shown(run()), "running");
  store.upsert([span({ id: "each[1]/ask", parent_id: "each[1]", seq: 60, status: "parked" })]);
  store.upsert([span({ id: "each[1]", parent_id: "each", kind: "iteration", seq: 61, status: "running" })]);
  assert.equal(shown(run()), "parked");
  store.upsert([span({ id: "other", seq: 62, status: "running" })]);
  assert.equal(shown(run()), "running");
  assert.equal(shown(run()?.children.find((c) => c.span.id === "each")), "parked");
});
