import assert from "node:assert/strict";
import { test } from "node:test";
import { updateNode } from "./edit";
import { edgeIndex, issuesAt } from "./issue";
import { sizesOf } from "./sizes";
import { specOf } from "./spec";
import { summaryOf } from "./summary";
import { kinds, sample } from "./testkit";
import { suggestionsAt, upstreamOf, variableNames } from "./upstream";

test("a step sees what leads to it, and what leads to its containers", () => {
  const d = sample();
  assert.deepEqual(upstreamOf(d, "review"), ["work", "ask", "start"]);
  assert.deepEqual(upstreamOf(d, "done"), ["each", "ask", "start"]);
  assert.deepEqual(upstreamOf(d, "start"), []);
});

test("suggestions name the loop, the steps' fields, the input and the variables", () => {
  const d = {
    ...updateNode(sample(), "work", {
      config: { output: { properties: { score: { type: "number" } } } },
    }),
    input_schema: { type: "object", properties: { q: { type: "string" }, "odd name": {} } },
    variables: { tone: "kind" },
  };
  const paths = suggestionsAt(d, kinds, "review").map((s) => s.path);
  for (const path of [
    "loop_item",
    "loop.each.item",
    "step.work.text",
    "step.work.json.score",
    "step.ask.text",
    "workflow_input.q",
    'workflow_input["odd name"]',
    "tone",
    "run.id",
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.ok(!paths.some((p) => p.startsWith("step.done") || p.startsWith("step.review")));
  assert.equal(paths.indexOf("loop_item"), 0);
});

test("variables that a step assigns are known", () => {
  const d = updateNode({ ...sample(), variables: { a: 1 } }, "ask", {
    config: { variables: { b: "{{x}}" } },
  });
  assert.deepEqual(variableNames(d), ["a", "b"]);
});

test("summaries say what a step does, in one line", () => {
  const summary = (type: string, config: Parameters<typeof updateNode>[2]["config"]) => {
    const node = sample().nodes[1];
    assert.ok(node);
    return summaryOf(specOf(kinds, type), { ...node, type, config: config ?? {} });
  };
  assert.equal(summary("llm_call", { prompt: "Say\n  hello" }), "Say hello");
  assert.equal(
    summary("condition", {
      match: "any",
      rows: [
        { left: "{{a}}", operator: "equals", right: 1 },
        { left: "b", operator: "is_empty" },
      ],
    }),
    "{{a}} equals 1 or b is_empty",
  );
  assert.equal(summary("set", { values: { a: 1, b: 2 } }), "a, b");
  assert.equal(summary("set", { method: "GET", url: "https://x" }), "GET https://x");
  assert.equal(summary("set", {}), "");
});

test("a step with a summary is taller", () => {
  const d = sample();
  const height = (x: typeof d) => sizesOf(x, kinds).get("ask")?.height ?? 0;
  assert.ok(height(d) > height(updateNode(d, "ask", { config: {} })));
});

test("issues are found by field and by edge", () => {
  const issue = (field: string) => ({
    code: "",
    severity: "error" as const,
    node_id: "",
    field,
    message: "",
    fix: "",
  });
  const all = [issue("config.rows[1].left"), issue("config.rowset"), issue("config.rows")];
  assert.deepEqual(
    issuesAt(all, "config.rows").map((i) => i.field),
    ["config.rows[1].left", "config.rows"],
  );
  assert.equal(edgeIndex(issue("edges[12].condition")), 12);
  assert.equal(edgeIndex(issue("config.edges[1]")), -1);
});
