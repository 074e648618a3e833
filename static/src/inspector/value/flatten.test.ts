import assert from "node:assert/strict";
import test from "node:test";
import { parse } from "../../graph/json";
import { leafText, linesOf, pointer, search } from "./flatten";

const closed = new Map<string, boolean>();

test("small values are open, long lists come in chunks", () => {
  const value = { a: { b: { c: [1, 2] } }, long: Array.from({ length: 250 }, (_, i) => i), empty: {} };
  const paths = linesOf(value, closed).map((l) => l.path);
  assert.deepEqual(paths, ["", "/a", "/a/b", "/a/b/c", "/long", "/empty"]);
  const opened = new Map([
    ["/long", true],
    ["/long/[200…]", true],
  ]);
  const lines = linesOf(value, opened);
  assert.deepEqual(
    lines.filter((l) => l.chunk !== null).map((l) => l.chunk),
    [
      { from: 0, to: 99 },
      { from: 100, to: 199 },
      { from: 200, to: 249 },
    ],
  );
  assert.ok(lines.some((l) => l.path === "/long/249"));
  assert.ok(!lines.some((l) => l.path === "/long/0"));
});

test("leaves are shown as they were written", () => {
  const value = parse('{"n": 9007199254740993, "x": 1.50, "s": "a\\"b", "none": null}');
  assert.deepEqual(
    linesOf(value, closed)
      .slice(1)
      .map((l) => leafText(l.value)),
    ["9007199254740993", "1.50", 'a"b', "null"],
  );
});

test("a search finds keys and leaves, and tells what to open", () => {
  const value = { list: Array.from({ length: 150 }, (_, i) => ({ name: `n${i}` })), Name: 1 };
  const found = search(value, "N149");
  assert.deepEqual(found.paths, ["/list/149/name"]);
  assert.deepEqual(found.open, ["", "/list", "/list/[100…]", "/list/149"]);
  assert.equal(search(value, "name").paths.length, 151);
  assert.deepEqual(search(value, "  "), { paths: [], open: [] });
  const lines = linesOf(value, new Map(found.open.map((p) => [p, true])));
  assert.ok(lines.some((l) => l.path === "/list/149/name"));
});

test("keys are escaped in paths", () => {
  assert.equal(pointer("/a", "b/c~d"), "/a/b~1c~0d");
});
