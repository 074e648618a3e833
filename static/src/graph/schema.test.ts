import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "./json";
import { example, initialValue, mainType, mismatches, titleOf } from "./schema";

const schema = {
  type: "object",
  required: ["tickets", "threshold"],
  additionalProperties: false,
  properties: {
    tickets: {
      type: "array",
      minItems: 1,
      items: { type: "object", required: ["id"], properties: { id: { type: "integer" } } },
    },
    threshold: { type: "number", minimum: 0 },
    urgency: { enum: ["low", "high"], default: "low" },
    code: { type: "string", pattern: "^[A-Z]+$", maxLength: 3 },
    note: { type: ["string", "null"] },
  },
};

test("mismatches name the place and the rule", () => {
  const value = {
    tickets: [{ id: 1.5 }, {}],
    threshold: -1,
    urgency: "mid",
    code: "abcd",
    other: true,
  };
  assert.deepEqual(
    mismatches(schema, value).map((m) => `${m.path}: ${m.message}`),
    [
      "tickets[0].id: Must be a whole number",
      "tickets[1].id: Required",
      "threshold: At least 0",
      "urgency: Choose one of the values",
      "code: At most 3 characters",
      "other: Not expected here",
    ],
  );
  assert.deepEqual(
    mismatches(schema, { tickets: [], threshold: 1 }).map((m) => m.message),
    ["At least 1 entries"],
  );
});

test("what fits has no mismatch, big numbers included", () => {
  const value = parse('{"tickets":[{"id":9007199254740993}],"threshold":1.0,"code":"AB","note":null}');
  assert.deepEqual(mismatches(schema, value), []);
  assert.deepEqual(mismatches({}, value), []);
  assert.deepEqual(mismatches({ type: "string", pattern: "(?<bad" }, "x"), []);
});

test("an example shows the shape of a value", () => {
  assert.deepEqual(example(schema), {
    tickets: [{ id: 0 }],
    threshold: 0,
    urgency: "low",
    code: "…",
    note: "…",
  });
});

test("forms start from defaults", () => {
  assert.deepEqual(initialValue(schema), { urgency: "low" });
  assert.equal(initialValue({ type: "string" }), undefined);
});

test("fields have a type and a title", () => {
  assert.equal(mainType({ type: ["string", "null"] }), "string");
  assert.equal(mainType({ type: ["number", "string"] }), "number");
  assert.equal(mainType({ properties: {} }), "object");
  assert.equal(mainType({}), "");
  assert.equal(titleOf({}, "max_tokens"), "Max tokens");
  assert.equal(titleOf({ title: "Model" }, "m"), "Model");
});
