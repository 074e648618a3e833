/** Kinds and documents for tests. */

import { type Definition, decodeDefinition } from "./definition";
import type { JsonObject } from "./json";
import { decodeKinds } from "./spec";

export const kinds = decodeKinds({
  kinds: [
    { type: "trigger", title: "Trigger", group: "Flow", class: "pure", config: {} },
    { type: "end", title: "End", group: "Flow", class: "pure", no_output: true, config: {} },
    {
      type: "condition",
      title: "Condition",
      group: "Flow",
      class: "pure",
      handles: [
        { id: "then", label: "then", tone: "success" },
        { id: "else", label: "else" },
      ],
      config: { properties: { expression: { type: "string", "x-mode": "expression" } } },
    },
    { type: "loop", title: "Loop", group: "Flow", class: "container", container: "loop", config: {} },
    {
      type: "parallel",
      title: "Parallel",
      group: "Flow",
      class: "container",
      container: "parallel",
      config: {},
    },
    { type: "branch", title: "Branch", group: "Flow", class: "container", container: "branch", config: {} },
    {
      type: "approval",
      title: "Approval",
      group: "People",
      class: "park",
      handles_from: "outcomes",
      config: {
        properties: { outcomes: { default: [{ id: "approve" }, { id: "reject", label: "Reject" }] } },
      },
    },
    {
      type: "llm_call",
      title: "Model call",
      group: "AI",
      class: "effect",
      result_key: "text",
      config: { properties: { prompt: { type: "string" }, note: { type: "string", "x-mode": "literal" } } },
      output: { properties: { text: { type: "string" }, json: {} } },
    },
    { type: "set", title: "Set", group: "Data", class: "pure", config: {} },
  ],
});

export function doc(nodes: JsonObject[], edges: JsonObject[] = [], more: JsonObject = {}): Definition {
  return decodeDefinition({ format: "sluice/v1", nodes, edges, ...more });
}

/** start → ask → done, with a loop holding work → review. */
export function sample(): Definition {
  return doc(
    [
      { id: "start", type: "trigger", config: {}, position: { x: 0, y: 0 } },
      { id: "ask", type: "llm_call", config: { prompt: "{{workflow_input.q}}" }, position: { x: 300, y: 0 } },
      { id: "each", type: "loop", config: { collection: "{{step.ask.json}}" }, position: { x: 600, y: 0 } },
      {
        id: "work",
        type: "llm_call",
        parent: "each",
        config: { prompt: "{{loop_item}}" },
        position: { x: 24, y: 60 },
      },
      {
        id: "review",
        type: "approval",
        parent: "each",
        config: { body: "{{step.work.text}}" },
        position: { x: 320, y: 60 },
      },
      { id: "done", type: "end", config: { output: "{{step.each.results}}" }, position: { x: 1300, y: 0 } },
    ],
    [
      { source: "start", target: "ask" },
      { source: "ask", target: "each", condition: "step.ask.text != ''" },
      { source: "work", target: "review" },
      { source: "each", target: "done" },
    ],
  );
}

/** A small generator of random numbers that always gives the same ones for a seed. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
