/** A run as it happens: its state, its spans and the text that models are writing. */

import type { LiveClient } from "./client";
import type { Frame } from "./frame";
import type { Run, Span } from "./span";
import { SpanStore } from "./spans";

export type StreamedText = {
  text: string;
  /** What was written before we came, or while we were away, is not in it. */
  gap: boolean;
};

export type RunState = {
  run: Run | null;
  /** Changes with the spans; the store itself is always the same object. */
  version: number;
  /** Whether all that had happened when we connected is here. */
  caughtUp: boolean;
  /** The server will not show this run to us. */
  refused: string;
};

/**
 * How far back to ask when going on after a break. An answer's span is numbered by
 * whoever takes the answer, and may come after spans with higher numbers.
 */
const overlap = 200;

/** Streamed text beyond this is cut at the front: the output brings all of it. */
const maxText = 1 << 20;

const settled = (s: Span): boolean => s.status !== "running" && s.status !== "retrying";

/** Follows one run. Read it with useSyncExternalStore. */
export class RunFeed {
  readonly spans = new SpanStore();
  private readonly texts = new Map<string, StreamedText>();
  private readonly listeners = new Set<() => void>();
  private state: RunState = { run: null, version: 0, caughtUp: false, refused: "" };

  constructor(readonly runId: string) {}

  snapshot = (): RunState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** What a model has written so far in an attempt; undefined when nothing is being written. */
  text(spanId: string): StreamedText | undefined {
    return this.texts.get(spanId);
  }

  /** Follows the run over a client until the returned function is called. */
  follow(client: LiveClient): () => void {
    const off = client.onConnection(() => {
      if (client.connection().state !== "live") this.interrupted();
    });
    const stop = client.watch(`run:${this.runId}`, {
      after: () => Math.max(0, this.spans.seq - overlap),
      frame: (f) => this.take(f),
    });
    return () => {
      off();
      stop();
    };
  }

  /** Takes in what was read by other means: the API, before and without a websocket. */
  load(run: Run | null, spans: readonly Span[] = [], seq = 0): void {
    // An answer may be older than what the websocket has told meanwhile.
    const late = this.state.caughtUp && this.state.run !== null;
    this.apply(late ? null : run, this.spans.upsert(spans, seq), {});
  }

  take(f: Frame): void {
    switch (f.type) {
      case "snapshot":
        // The first part; the others come as spans, and what is missing is known at the end.
        this.spans.begin();
        this.apply(f.run, this.spans.upsert(f.spans, f.seq), { refused: "" });
        break;
      case "spans":
        this.apply(null, this.spans.upsert(f.spans, f.seq), {});
        break;
      case "run":
        this.apply(f.run, false, {});
        break;
      case "delta":
        this.write(f.span_id, f.text);
        break;
      case "caught_up":
        this.joined();
        this.apply(null, this.spans.complete(f.seq), { caughtUp: true });
        break;
      case "error":
        this.apply(null, false, { refused: f.message || f.code });
        break;
      case "resync":
        this.interrupted();
        break;
    }
  }

  private apply(run: Run | null, changed: boolean, more: Partial<RunState>): void {
    if (changed) this.forgetWritten();
    this.set({ ...this.state, run: run ?? this.state.run, version: this.spans.version, ...more });
  }

  private write(spanId: string, text: string): void {
    const span = this.spans.get(spanId);
    if (text === "" || (span !== undefined && settled(span))) return;
    const before = this.texts.get(spanId) ?? { text: "", gap: false };
    const all = before.text + text;
    const cut = all.length > maxText;
    this.texts.set(spanId, { text: cut ? all.slice(-maxText) : all, gap: before.gap || cut });
    this.set({ ...this.state });
  }

  /** Deltas are not repeated: of what is being written now, the beginning is missing. */
  private joined(): void {
    for (const s of this.spans.all()) {
      if (s.kind !== "attempt" || settled(s)) continue;
      this.texts.set(s.id, { text: this.texts.get(s.id)?.text ?? "", gap: true });
    }
  }

  private interrupted(): void {
    if (this.state.caughtUp) this.set({ ...this.state, caughtUp: false });
  }

  private forgetWritten(): void {
    for (const id of this.texts.keys()) {
      const span = this.spans.get(id);
      if (span !== undefined && settled(span)) this.texts.delete(id);
    }
  }

  private set(state: RunState): void {
    this.state = state;
    for (const l of this.listeners) l();
  }
}
