/** What a kind tells of its work: the prompt as it was sent, the request, the response. */

import { isObject, type Json, type JsonObject } from "../../graph/json";
import type { SpanNode } from "../../live/tree";
import { LongText } from "../value/text";
import { JsonView, Value } from "../value/value";

/** Attributes that the engine adds; they are shown elsewhere. */
const shownElsewhere = new Set([
  "handle",
  "warning",
  "next_attempt_at",
  "park",
  "park_id",
  "iteration",
  "decision",
  "taken",
]);
const order = ["recipe", "model", "system", "prompt", "messages", "request", "response", "status"];
const titles: Record<string, string> = { system: "System prompt" };

/** The last attempt's attributes over the step's own; what was asked is known from the input before that. */
function attributesOf(node: SpanNode): JsonObject {
  const { input } = node.span;
  const asked: JsonObject = {};
  if (isObject(input)) {
    for (const key of ["model", "system", "prompt", "messages"]) {
      const v = input[key];
      if (v !== undefined && v !== "" && v !== null) asked[key] = v;
    }
  }
  return { ...asked, ...node.span.attributes, ...node.attempts.at(-1)?.attributes };
}

function traced(node: SpanNode): [string, Json][] {
  const rank = (key: string): number => (order.indexOf(key) + order.length + 1) % (order.length + 1);
  return Object.entries(attributesOf(node))
    .filter(([k, v]) => !shownElsewhere.has(k) && v !== "" && v !== null)
    .sort(([a], [b]) => rank(a) - rank(b));
}

export function hasTrace(node: SpanNode): boolean {
  return node.span.kind === "step" && traced(node).length > 0;
}

function titleOf(key: string): string {
  const words = titles[key] ?? key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type Message = { role: string; content: string };

function messagesOf(v: Json): Message[] | null {
  if (!Array.isArray(v)) return null;
  const all = v.filter(isObject).map((m) => ({ role: m.role, content: m.content }));
  const plain = all.filter((m): m is Message => typeof m.role === "string" && typeof m.content === "string");
  return plain.length === v.length ? plain : null;
}

function Entry({ name, value }: { name: string; value: Json }) {
  const title = titleOf(name);
  const messages = name === "messages" ? messagesOf(value) : null;
  if (messages !== null) {
    return messages.map((m, n) => (
      <section className="dt-part" key={`${n}${m.role}`}>
        <h3>{titleOf(m.role)}</h3>
        <LongText text={m.content} label={m.role} />
      </section>
    ));
  }
  if (typeof value === "object" && value !== null) return <JsonView value={value} label={title} />;
  if (typeof value === "string" && (value.length > 60 || value.includes("\n")))
    return <Value value={value} label={title} />;
  return (
    <section className="dt-part">
      <h3>{title}</h3>
      <p className="dt-line" dir="auto">
        {String(value)}
      </p>
    </section>
  );
}

export function TraceView({ node }: { node: SpanNode }) {
  return traced(node).map(([k, v]) => <Entry key={k} name={k} value={v} />);
}
