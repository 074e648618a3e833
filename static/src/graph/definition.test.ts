import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodeError, decodeDefinition, encodeDefinition } from "./definition";
import { parse, stringify } from "./json";

test("a canonical document comes back whole", () => {
  const text = stringify({
    format: "sluice/v1",
    name: "Approve",
    description: "…",
    input_schema: { type: "object" },
    variables: { limit: parse("9007199254740993"), b: null },
    nodes: [
      {
        id: "each",
        type: "loop",
        label: "Each",
        config: { collection: "{{x}}" },
        on_error: "continue",
        retry: { max_attempts: 5, base_ms: 100 },
        timeout_ms: 1000,
        on_interrupt: "ask",
        position: { x: 1, y: 2, width: 300, z: 7 },
        notes: "why",
        "x-owner": "mara",
      },
      { id: "in", type: "set", parent: "each", config: {} },
    ],
    edges: [{ source: "each", target: "in", handle: "a", condition: "true", "x-color": "red" }],
    "x-team": ["a"],
  });
  assert.equal(stringify(encodeDefinition(decodeDefinition(parse(text)))), text);
});

test("a document without edges and with numeric ids is read", () => {
  const d = decodeDefinition({ nodes: [{ id: 1, type: "trigger" }] });
  assert.equal(d.nodes[0]?.id, "1");
  assert.deepEqual(d.edges, []);
});

test("what is no workflow is refused in words", () => {
  for (const v of [null, 1, [], {}, { nodes: 1 }, { nodes: [1] }, { nodes: [{}] }, { nodes: [], edges: 3 }]) {
    assert.throws(() => decodeDefinition(v), DecodeError, JSON.stringify(v));
  }
});
