import assert from "node:assert/strict";
import { test } from "node:test";
import { type Definition, newNode } from "./definition";
import {
  addNode,
  connect,
  idFor,
  insertOnEdge,
  moveNodes,
  removeAndBridge,
  removeNodes,
  reparent,
} from "./edit";
import { freeId, slug, whyNotId } from "./ids";
import { makeRoom } from "./room";
import { reaches, whyNotConnect } from "./rules";
import { sizesOf } from "./sizes";
import { handlesOf, specOf } from "./spec";
import { doc, kinds, random, sample } from "./testkit";
import { ancestors, parentsFirst, whyNotMove, withDescendants } from "./tree";

const edges = (d: Definition) => d.edges.map((e) => `${e.source}>${e.target}`);

test("ids are readable and free", () => {
  const taken = new Set(["approval", "approval-2"]);
  assert.equal(freeId("approval", taken), "approval-3");
  assert.equal(freeId("approval-2", taken), "approval-3");
  assert.equal(freeId("legal", taken), "legal");
  assert.equal(slug("  Legal review! №1 "), "legal-review-1");
  assert.equal(slug("唐辛子 を"), "唐辛子-を");
  assert.equal(slug("!!!"), "step");
  assert.equal(idFor(sample(), "ask"), "ask-2");
  assert.match(whyNotId("a b", taken) ?? "", /Letters/);
  assert.match(whyNotId("approval", taken) ?? "", /Another/);
  assert.equal(whyNotId("唐-1", taken), null);
});

test("removing a container removes what is inside and its edges", () => {
  const d = removeNodes(sample(), ["each"]);
  assert.deepEqual(
    d.nodes.map((n) => n.id),
    ["start", "ask", "done"],
  );
  assert.deepEqual(edges(d), ["start>ask"]);
});

test("removing a step out of a chain leaves a chain", () => {
  const d = removeAndBridge(sample(), new Set(["ask"]));
  assert.deepEqual(edges(d), ["work>review", "each>done", "start>each"]);
});

test("a step put on an edge leads on", () => {
  const d = sample();
  const node = newNode({ id: "new", type: "set" });
  const out = insertOnEdge(d, d.edges[0]?.key ?? "", node, "");
  assert.deepEqual(edges(out), ["start>new", "ask>each", "work>review", "each>done", "new>ask"]);
});

test("moving into a container drops the edges that would cross its border", () => {
  const d = reparent(sample(), new Set(["ask"]), "each", new Map([["ask", { x: 24, y: 200 }]]));
  assert.deepEqual(edges(d), ["work>review", "each>done"]);
  assert.equal(d.nodes.find((n) => n.id === "ask")?.position?.y, 200);
});

test("only what makes sense connects", () => {
  const d = sample();
  const why = (source: string, target: string, handle = "") =>
    whyNotConnect(d, kinds, { source, target, handle });
  assert.equal(why("start", "each"), null);
  assert.match(why("ask", "ask") ?? "", /itself/);
  assert.match(why("ask", "work") ?? "", /inside of one container/);
  assert.match(why("done", "ask") ?? "", /Nothing follows/);
  assert.match(why("ask", "start") ?? "", /Nothing leads/);
  assert.match(why("start", "ask") ?? "", /already/);
  assert.match(why("each", "ask") ?? "", /circle/);
  assert.match(why("review", "work", "nope") ?? "", /no output "nope"/);
  assert.match(why("work", "gone") ?? "", /no such/);
});

test("an edge by the default handle and one that names it are the same", () => {
  const d = connect(
    doc([
      { id: "ok", type: "approval" },
      { id: "next", type: "set" },
    ]),
    { source: "ok", target: "next", handle: "" },
  );
  const why = (handle: string) => whyNotConnect(d, kinds, { source: "ok", target: "next", handle });
  assert.match(why("approve") ?? "", /already/);
  assert.equal(why("reject"), null);
});

test("random edits that the rules allow never make a circle", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = random(seed);
    let d = doc(Array.from({ length: 12 }, (_, i) => ({ id: `n${i}`, type: "set" })));
    for (let i = 0; i < 60; i++) {
      const c = { source: `n${next(12)}`, target: `n${next(12)}`, handle: "" };
      if (whyNotConnect(d, kinds, c) === null) d = connect(d, c);
      if (next(6) === 0) d = removeAndBridge(d, new Set([`n${next(12)}`]));
    }
    for (const e of d.edges) assert.ok(!reaches(d, e.target, e.source), `seed ${seed}: ${edges(d)}`);
    assert.equal(new Set(d.edges.map((e) => e.key)).size, d.edges.length);
  }
});

test("containers take what belongs into them", () => {
  const d = doc([
    { id: "start", type: "trigger" },
    { id: "p", type: "parallel" },
    { id: "b", type: "branch", parent: "p" },
    { id: "l", type: "loop", parent: "b" },
    { id: "s", type: "set" },
  ]);
  const why = (id: string, parent: string) => whyNotMove(d, kinds, id, parent);
  assert.equal(why("s", "b"), null);
  assert.equal(why("s", "l"), null);
  assert.match(why("s", "p") ?? "", /only branches/);
  assert.match(why("b", "") ?? "", /belongs into a parallel/);
  assert.match(why("b", "l") ?? "", /inside of itself/);
  assert.match(why("p", "l") ?? "", /inside of itself/);
  assert.match(why("start", "l") ?? "", /outside of containers/);
  assert.match(why("l", "s") ?? "", /no body/);
  assert.deepEqual([...withDescendants(d, ["p"])].sort(), ["b", "l", "p"]);
});

test("parents that form a circle don't hang anything", () => {
  const d = doc([
    { id: "a", type: "loop", parent: "b" },
    { id: "b", type: "loop", parent: "a" },
    { id: "c", type: "loop", parent: "c" },
  ]);
  assert.equal(parentsFirst(d).length, 3);
  assert.equal(sizesOf(d, kinds).size, 3);
  assert.deepEqual(
    ancestors(d, "a").map((n) => n.id),
    ["b"],
  );
});

test("handles come from the config, the kind's defaults and the error policy", () => {
  const ids = (type: string, config = {}, on_error: "" | "branch" = "") =>
    handlesOf(specOf(kinds, type), { config, on_error }).map((h) => h.id);
  assert.deepEqual(ids("approval"), ["approve", "reject"]);
  assert.deepEqual(ids("approval", { outcomes: [{ id: "yes" }] }), ["yes"]);
  assert.deepEqual(ids("condition"), ["then", "else"]);
  assert.deepEqual(ids("set", {}, "branch"), ["", "error"]);
  assert.deepEqual(ids("end"), []);
  assert.deepEqual(ids("never-heard-of"), [""]);
});

test("what stands beside a growing container makes room", () => {
  const before = sample();
  const inside = newNode({ id: "wide", type: "set", parent: "each", position: { x: 900, y: 60 } });
  const after = makeRoom(before, addNode(before, inside), kinds);
  const x = (id: string) => after.nodes.find((n) => n.id === id)?.position?.x ?? 0;
  const grown =
    (sizesOf(after, kinds).get("each")?.width ?? 0) - (sizesOf(before, kinds).get("each")?.width ?? 0);
  assert.ok(grown > 0);
  assert.equal(x("done"), 1300 + grown);
  assert.equal(x("ask"), 300);
  assert.equal(makeRoom(before, moveNodes(before, new Map()), kinds).nodes[5]?.position?.x, 1300);
});
