import assert from "node:assert/strict";
import { test } from "node:test";
import { hintsOf, isShown } from "./hints";

test("a field is drawn by its hint, otherwise by its type", () => {
  const cases: [Parameters<typeof hintsOf>[0], string][] = [
    [{ type: "string" }, "text"],
    [{ type: "string", "x-ui": { widget: "markdown" } }, "markdown"],
    [{ type: "string", "x-mode": "expression" }, "expression"],
    [{ type: "string", enum: ["a"] }, "select"],
    [{ type: "integer" }, "number"],
    [{ type: ["string", "number"], "x-ui": { widget: "duration" } }, "duration"],
    [{ type: "boolean" }, "switch"],
    [{ type: "array", items: {} }, "list"],
    [{ type: "object", properties: {} }, "object"],
    [{ type: "object", additionalProperties: true }, "keyvalue"],
    [{ type: "object" }, "json"],
    [{}, "json"],
    [{ type: "string", "x-ui": { widget: "recipe" } }, "choice"],
    [{ type: "array", items: { type: "string" }, "x-ui": { widget: "users" } }, "list"],
    [{ type: "string", "x-ui": { widget: "never-heard-of" } }, "text"],
  ];
  for (const [schema, widget] of cases) assert.equal(hintsOf(schema).widget, widget, JSON.stringify(schema));
});

test("fields are shown when others say so, with their defaults", () => {
  const siblings = { body_type: { default: "none" } };
  const shown = (wanted: string | string[], config = {}) =>
    isShown({ "x-ui": { show_if: { body_type: wanted } } }, config, siblings);
  assert.equal(shown("json", { body_type: "json" }), true);
  assert.equal(shown("json"), false);
  assert.equal(shown("none"), true);
  assert.equal(shown(["json", "text"], { body_type: "text" }), true);
  assert.equal(isShown({ "x-ui": { widget: "hidden" } }, {}, {}), false);
  assert.equal(isShown({}, {}, {}), true);
});
