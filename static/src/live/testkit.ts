/** Spans, a seeded random, and a world of fake sockets and time for tests. */

import type { Environment, Socket } from "./client";
import { decodeSpan, type Span } from "./span";

/** mulberry32: small, seeded, good enough to shuffle. */
export function seeded(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

export function span(fields: { id: string; seq: number } & Partial<Span>): Span {
  const base = decodeSpan({ id: fields.id, kind: fields.kind ?? "step", seq: fields.seq, status: "running" });
  if (base === null) throw new Error("bad span");
  return { ...base, parent_id: "run", ...fields };
}

export class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  closed = false;
  readonly sent: { type: string; topic?: string; after?: number }[] = [];

  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }

  close(): void {
    this.closed = true;
  }

  /** The other side closes, or the network does: 1006. */
  end(code = 1006): void {
    this.onclose?.({ code });
  }

  tell(message: unknown): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/** Time that moves when told to. */
export class FakeWorld implements Environment {
  readonly sockets: FakeSocket[] = [];
  isOnline = true;
  isVisible = true;
  changed: (() => void) | null = null;
  private time = 0;
  private nextTimer = 1;
  private readonly timers = new Map<number, { due: number; run: () => void }>();

  connect(): Socket {
    const s = new FakeSocket();
    this.sockets.push(s);
    return s;
  }

  get socket(): FakeSocket {
    const s = this.sockets.at(-1);
    if (s === undefined) throw new Error("nothing has connected");
    return s;
  }

  now = (): number => this.time;
  random = (): number => 0.5;
  online = (): boolean => this.isOnline;
  visible = (): boolean => this.isVisible;

  setTimer(run: () => void, ms: number): number {
    this.timers.set(this.nextTimer, { due: this.time + ms, run });
    return this.nextTimer++;
  }

  clearTimer(id: number): void {
    this.timers.delete(id);
  }

  watch(changed: () => void): () => void {
    this.changed = changed;
    return () => {
      this.changed = null;
    };
  }

  /** The number of timers that are waiting. */
  get waiting(): number {
    return this.timers.size;
  }

  pass(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = [...this.timers].sort(([, a], [, b]) => a.due - b.due)[0];
      if (next === undefined || next[1].due > end) break;
      this.timers.delete(next[0]);
      this.time = next[1].due;
      next[1].run();
    }
    this.time = end;
  }
}
