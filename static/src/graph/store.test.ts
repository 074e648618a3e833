import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyDefinition } from "./definition";
import { DocumentStore } from "./store";

const name = (value: string) => (d: ReturnType<typeof emptyDefinition>) => ({ ...d, name: value });

function setup() {
  const clock = { now: 0 };
  const store = new DocumentStore(emptyDefinition("a"), () => clock.now);
  return { store, clock };
}

test("undo and redo walk through the edits", () => {
  const { store } = setup();
  store.edit("one", name("b"));
  store.edit("two", name("c"));
  assert.equal(store.undo(), "two");
  assert.equal(store.definition.name, "b");
  assert.equal(store.undo(), "one");
  assert.equal(store.undo(), null);
  assert.equal(store.redo(), "one");
  assert.equal(store.redo(), "two");
  assert.equal(store.redo(), null);
  assert.equal(store.definition.name, "c");
});

test("a new edit forgets what was undone", () => {
  const { store } = setup();
  store.edit("one", name("b"));
  store.undo();
  store.edit("two", name("c"));
  assert.equal(store.state.canRedo, false);
});

test("typing is one step, a pause starts another", () => {
  const { store, clock } = setup();
  for (const [at, text] of [
    [0, "b"],
    [400, "bc"],
    [1300, "bcd"],
    [4000, "bcde"],
  ] as const) {
    clock.now = at;
    store.edit("type", name(text), "name");
  }
  store.undo();
  assert.equal(store.definition.name, "bcd");
  store.undo();
  assert.equal(store.definition.name, "a");
});

test("edits of different fields don't join", () => {
  const { store } = setup();
  store.edit("type", name("b"), "name");
  store.edit("type", (d) => ({ ...d, description: "x" }), "description");
  store.undo();
  assert.equal(store.definition.name, "b");
});

test("undoing back to what is saved is clean", () => {
  const { store } = setup();
  store.edit("one", name("b"));
  assert.equal(store.state.dirty, true);
  store.undo();
  assert.equal(store.state.dirty, false);
  store.redo();
  const sent = store.definition;
  store.edit("two", name("c"));
  store.markSaved(sent);
  assert.equal(store.state.dirty, true);
  store.undo();
  assert.equal(store.state.dirty, false);
});

test("an edit that changes nothing is none, and listeners hear the others", () => {
  const { store } = setup();
  let heard = 0;
  const stop = store.subscribe(() => heard++);
  store.edit("none", (d) => d);
  store.edit("one", name("b"));
  stop();
  store.edit("two", name("c"));
  assert.equal(heard, 1);
});

test("history is bounded", () => {
  const { store } = setup();
  for (let i = 0; i < 500; i++) store.edit("edit", name(String(i)));
  let steps = 0;
  while (store.undo() !== null) steps++;
  assert.equal(steps, 200);
});
