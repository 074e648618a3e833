import assert from "node:assert/strict";
import { test } from "node:test";
import { copyNodes, paste, readPiece } from "./clipboard";
import type { Definition } from "./definition";
import { stringify } from "./json";
import { doc, kinds, sample } from "./testkit";

function pasted(d: Definition, text: string, parent = "") {
  const piece = readPiece(text);
  assert.ok(piece);
  return paste(d, kinds, piece, parent, { x: 32, y: 32 });
}

const configOf = (d: Definition, id: string) => stringify(d.nodes.find((n) => n.id === id)?.config);

test("a pasted piece has new ids, and its references follow", () => {
  const d = sample();
  const r = pasted(d, copyNodes(d, ["each"]));
  assert.deepEqual(r.roots, ["each-2"]);
  assert.equal(configOf(r.definition, "review-2"), '{"body":"{{step.work-2.text}}"}');
  // "ask" was not copied: the reference to it stays.
  assert.equal(configOf(r.definition, "each-2"), '{"collection":"{{step.ask.json}}"}');
  assert.equal(r.definition.nodes.find((n) => n.id === "work-2")?.parent, "each-2");
  assert.ok(r.definition.edges.some((e) => e.source === "work-2" && e.target === "review-2"));
  assert.equal(new Set(r.definition.edges.map((e) => e.key)).size, r.definition.edges.length);
});

test("only edges among the copied nodes are copied", () => {
  const d = sample();
  const r = pasted(d, copyNodes(d, ["start", "ask", "done"]));
  assert.deepEqual(r.roots, ["ask-2", "done-2"]);
  assert.deepEqual(r.skipped, ["A workflow has one trigger"]);
  assert.equal(r.definition.edges.length, d.edges.length);
});

test("ids that are free in another workflow are kept", () => {
  const r = pasted(doc([{ id: "t", type: "trigger" }]), copyNodes(sample(), ["each"]));
  assert.deepEqual(r.roots, ["each"]);
  assert.equal(configOf(r.definition, "review"), '{"body":"{{step.work.text}}"}');
});

test("a branch is not pasted outside of a parallel", () => {
  const d = doc([
    { id: "p", type: "parallel" },
    { id: "b", type: "branch", parent: "p" },
    { id: "s", type: "set", parent: "b" },
  ]);
  const text = copyNodes(d, ["b"]);
  assert.deepEqual(pasted(d, text).roots, []);
  assert.equal(pasted(d, text).definition.nodes.length, 3);
  assert.deepEqual(pasted(d, text, "p").roots, ["b-2"]);
});

test("pasting twice never doubles an id", () => {
  const d = sample();
  const text = copyNodes(d, ["each", "ask"]);
  const twice = pasted(pasted(d, text).definition, text).definition;
  assert.equal(new Set(twice.nodes.map((n) => n.id)).size, twice.nodes.length);
});

test("other text is no piece", () => {
  for (const text of ["", "hello", "{}", "[1]", '{"nodes":[]}', '{"nodes":[{}]}'])
    assert.equal(readPiece(text), null);
});
