/** The messages of the websocket, server to client. */

import { child, isObject, type Json, text } from "../graph/json";
import { parseExact } from "./exact";
import { count, decodeRun, decodeSpans, type Run, type Span } from "./span";

/** What happened in the inbox: opened, decided or closed; changed where only another server knows. */
export type InboxEvent = { type: string; approval_id: string; run_id: string };

export type Frame =
  /**
   * The full state begins. It goes on with spans and ends with caught_up: what the
   * client has of older seq and what has not come until then is gone.
   */
  | { type: "snapshot"; topic: string; seq: number; run: Run | null; spans: Span[] }
  | { type: "spans"; topic: string; seq: number; spans: Span[] }
  | { type: "run"; topic: string; run: Run }
  | { type: "delta"; topic: string; span_id: string; text: string }
  | { type: "caught_up"; topic: string; seq: number }
  | { type: "resync"; topic: string }
  | { type: "inbox"; topic: "inbox"; pending: number; event: InboxEvent | null }
  | { type: "error"; topic: string; code: string; message: string }
  | { type: "pong" };

function inboxEvent(v: Json | undefined): InboxEvent | null {
  return isObject(v)
    ? { type: text(v, "type"), approval_id: text(v, "approval_id"), run_id: text(v, "run_id") }
    : null;
}

/** Reads a message; null for one that this version does not know. */
export function decodeFrame(data: string): Frame | null {
  let v: Json;
  try {
    v = parseExact(data);
  } catch {
    return null;
  }
  if (!isObject(v)) return null;
  const topic = text(v, "topic");
  switch (v.type) {
    case "snapshot":
      return {
        type: "snapshot",
        topic,
        seq: count(v.seq),
        run: decodeRun(child(v, "run")),
        spans: decodeSpans(v.spans),
      };
    case "spans":
      return { type: "spans", topic, seq: count(v.seq), spans: decodeSpans(v.spans) };
    case "run": {
      const run = decodeRun(child(v, "run"));
      return run && { type: "run", topic, run };
    }
    case "delta":
      return { type: "delta", topic, span_id: text(v, "span_id"), text: text(v, "text") };
    case "caught_up":
      return { type: "caught_up", topic, seq: count(v.seq) };
    case "resync":
      return { type: "resync", topic };
    case "inbox":
      return { type: "inbox", topic: "inbox", pending: count(v.pending), event: inboxEvent(v.event) };
    case "error":
      return { type: "error", topic, code: text(v, "code"), message: text(v, "message") };
    case "pong":
      return { type: "pong" };
    default:
      return null;
  }
}
