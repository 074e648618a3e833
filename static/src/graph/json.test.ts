import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, type Json, JsonError, parse, RawNumber, stringify } from "./json";

test("numbers come back as they were written", () => {
  for (const text of [
    "9007199254740993",
    "0.1",
    "1.0",
    "-0",
    "1e400",
    "1E2",
    "123456789012345678901234567890",
  ]) {
    assert.equal(stringify(parse(text)), text);
  }
  assert.equal(parse("42"), 42);
  assert.ok(parse("9007199254740993") instanceof RawNumber);
});

test("documents come back as they were written", () => {
  const texts = [
    '{"b":1,"a":[true,false,null,"x\\n\\u0007"],"c":{"d":{}},"e":[]}',
    '{"__proto__":{"x":1},"":"empty key"}',
    '"唐辛子 🌶 {{step.gift}}"',
  ];
  for (const text of texts) assert.equal(stringify(parse(text)), text);
  const indented = '{\n  "a": [\n    1,\n    {\n      "b": 2\n    }\n  ]\n}';
  assert.equal(stringify(parse(indented), 2), indented);
});

test("what is no JSON is refused with its place", () => {
  for (const text of ["", "{", "[1,]", "{a:1}", "01", "tru", '"a', "1 2", '{"a":1,}', "'a'", "\u00a01"]) {
    assert.throws(() => parse(text), JsonError, text);
  }
  assert.throws(() => parse('{\n  "a": x\n}'), /line 2, column 8/);
  assert.throws(() => parse("[".repeat(100_000)), /deeply/);
});

test("equality ignores the order of keys and keeps numbers exact", () => {
  const same = (a: string, b: string) => equal(parse(a), parse(b));
  assert.ok(same('{"a":1,"b":[2]}', '{"b":[2],"a":1}'));
  assert.ok(!same("9007199254740993", "9007199254740992"));
  assert.ok(!same('{"a":1}', '{"b":1}'));
  assert.ok(!equal(null, undefined));
  assert.ok(!equal([] as Json, {}));
});
