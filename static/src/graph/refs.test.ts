import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeDefinition } from "./definition";
import { renameNode } from "./edit";
import { stringify } from "./json";
import { renameInExpression, renameInTemplate } from "./refs";
import { doc, kinds, sample } from "./testkit";

const rename = new Map([["a", "b"]]);
const ids = ["a", "a-1", "legal", "レビュー"];

test("references in expressions follow a rename", () => {
  const cases: [string, string][] = [
    ["step.a", "step.b"],
    ["step.a.text + step.a-1.text", "step.b.text + step.a-1.text"],
    ["step.a-2", "step.b-2"],
    ["step['a'].x ?? step[\"a\"]", "step['b'].x ?? step[\"b\"]"],
    ["_node_a.text", "_node_b.text"],
    ["loop.a.item", "loop.b.item"],
    ["'step.a' + step.a", "'step.a' + step.b"],
    ["my.step.a", "my.step.a"],
    ["step.ab + mystep.a", "step.ab + mystep.a"],
    ["step?.a", "step?.a"],
    ["step.a[0].a", "step.b[0].a"],
    ["\"it's\" + step.a + 'q\\'step.a'", "\"it's\" + step.b + 'q\\'step.a'"],
  ];
  for (const [before, after] of cases) assert.equal(renameInExpression(before, rename, ids), after);
});

test("ids of any script are renamed", () => {
  const r = new Map([["レビュー", "review"]]);
  assert.equal(renameInExpression("step.レビュー.outcome", r, ids), "step.review.outcome");
});

test("text outside of braces stays as it is", () => {
  assert.equal(
    renameInTemplate("step.a and {{step.a}} and {{ step.a.x ?? 'step.a' }} and {{", rename, ids),
    "step.a and {{step.b}} and {{ step.b.x ?? 'step.a' }} and {{",
  );
});

test("a rename reaches parents, edges, configs and conditions by their modes", () => {
  const d = doc(
    [
      { id: "a", type: "loop", config: {} },
      { id: "c", type: "condition", parent: "a", config: { expression: "step.a.count > loop.a.index" } },
      {
        id: "l",
        type: "llm_call",
        config: { prompt: "{{step.a.count}} step.a", note: "{{step.a}}", deep: [{ x: "{{_node_a}}" }] },
      },
    ],
    [{ source: "a", target: "l", condition: "step.a.count > 0" }],
  );
  const text = stringify(encodeDefinition(renameNode(d, kinds, "a", "b")));
  assert.equal(
    text,
    '{"format":"sluice/v1","nodes":[{"id":"b","type":"loop","config":{}},' +
      '{"id":"c","type":"condition","parent":"b","config":{"expression":"step.b.count > loop.b.index"}},' +
      '{"id":"l","type":"llm_call","config":{"prompt":"{{step.b.count}} step.a","note":"{{step.a}}","deep":[{"x":"{{_node_b}}"}]}}],' +
      '"edges":[{"source":"b","target":"l","condition":"step.b.count > 0"}]}',
  );
});

test("renaming there and back changes nothing", () => {
  const d = sample();
  const back = renameNode(renameNode(d, kinds, "work", "w2"), kinds, "w2", "work");
  assert.equal(stringify(encodeDefinition(back)), stringify(encodeDefinition(d)));
});
