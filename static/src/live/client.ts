/** One websocket for all that a page watches. */

import { backoff } from "./backoff";
import { decodeFrame, type Frame } from "./frame";

export type Connection =
  | { state: "connecting" }
  | { state: "live"; since: number }
  /** A try is under way or due at `next`. */
  | { state: "reconnecting"; since: number; next: number }
  /** The browser says that there is no network; no tries until there is. */
  | { state: "offline"; since: number }
  /** The session has ended; no tries, because none would be let in. */
  | { state: "signed_out"; since: number };

/** What the client uses of a WebSocket. */
export type Socket = {
  send(data: string): void;
  close(): void;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
};

/** The world around the client; replaced in tests. */
export type Environment = {
  connect(): Socket;
  now(): number;
  random(): number;
  setTimer(f: () => void, ms: number): number;
  clearTimer(id: number): void;
  online(): boolean;
  visible(): boolean;
  /** Tells changes of online() and visible(). Returns how to stop that. */
  watch(changed: () => void): () => void;
};

/** A watcher of a topic. */
export type Watcher = {
  /** Where to go on: everything up to this seq is known. Asked at each (re)connect. */
  after(): number;
  frame(frame: Frame): void;
};

/** A connection that is silent for this long is asked for a sign, and given up without one. */
const quietMS = 20_000;
const replyMS = 8_000;
/** A try to connect that takes longer has failed. */
const connectMS = 15_000;

/** The server's close code for a session or token that has ended. */
const closeSignedOut = 4401;

type Timers = { retry: number; heartbeat: number };

/**
 * Keeps a connection while somebody watches something. After a break it connects
 * again and subscribes to each topic from where its watcher stands, so that nothing
 * is missed and nothing is sent twice that need not be.
 */
export class LiveClient {
  private socket: Socket | null = null;
  private open = false;
  private failures = 0;
  private state: Connection = { state: "connecting" };
  private readonly topics = new Map<string, Set<Watcher>>();
  private readonly listeners = new Set<() => void>();
  private timers: Timers = { retry: 0, heartbeat: 0 };
  private unwatch: (() => void) | null = null;

  constructor(private readonly env: Environment) {}

  /** The connection as it is, for useSyncExternalStore: the same object until it changes. */
  connection = (): Connection => this.state;

  onConnection = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Watches a topic until the returned function is called. Connects when it is the first. */
  watch(topic: string, watcher: Watcher): () => void {
    const all = this.topics.get(topic) ?? new Set();
    this.topics.set(topic, all.add(watcher));
    if (this.unwatch === null) this.start();
    else if (this.open) this.subscribe(topic);
    return () => {
      if (!all.delete(watcher) || all.size > 0) return;
      this.topics.delete(topic);
      if (this.open) this.send({ type: "unsubscribe", topic });
      if (this.topics.size === 0) this.stop();
    };
  }

  /** Tries at once instead of when the next try is due. */
  retryNow(): void {
    if (this.socket !== null || this.unwatch === null || this.state.state === "signed_out") return;
    this.env.clearTimer(this.timers.retry);
    this.connect();
  }

  private start(): void {
    this.unwatch = this.env.watch(() => this.worldChanged());
    this.failures = 0;
    if (this.state.state === "signed_out") return;
    if (this.env.online()) this.connect();
    else this.set({ state: "offline", since: this.env.now() });
  }

  private stop(): void {
    this.unwatch?.();
    this.unwatch = null;
    this.env.clearTimer(this.timers.retry);
    this.hangUp();
  }

  private connect(): void {
    const socket = this.env.connect();
    this.socket = socket;
    socket.onopen = () => this.opened();
    socket.onmessage = (e) => this.received(e.data);
    socket.onclose = (e) => (e.code === closeSignedOut ? this.signedOut() : this.closed());
    this.env.clearTimer(this.timers.heartbeat);
    this.timers.heartbeat = this.env.setTimer(() => this.lost(), connectMS);
  }

  private opened(): void {
    this.open = true;
    this.failures = 0;
    this.set({ state: "live", since: this.env.now() });
    for (const topic of this.topics.keys()) this.subscribe(topic);
    this.expectLife();
  }

  private received(data: unknown): void {
    this.expectLife();
    const frame = typeof data === "string" ? decodeFrame(data) : null;
    if (frame === null || frame.type === "pong") return;
    const watchers = this.topics.get(frame.topic);
    if (watchers === undefined) return;
    for (const w of watchers) w.frame(frame);
    // The server has dropped some of what it had for us: only the full state helps.
    if (frame.type === "resync") this.send({ type: "subscribe", topic: frame.topic, after: 0 });
  }

  /** The socket has closed, by whomever. */
  private closed(): void {
    this.hangUp();
    if (this.unwatch === null) return;
    if (!this.env.online()) {
      this.set({ state: "offline", since: this.downSince() });
      return;
    }
    const wait = backoff(this.failures++, () => this.env.random());
    const now = this.env.now();
    this.set({ state: "reconnecting", since: this.downSince(), next: now + wait });
    this.env.clearTimer(this.timers.retry);
    this.timers.retry = this.env.setTimer(() => this.connect(), wait);
  }

  private signedOut(): void {
    this.hangUp();
    this.set({ state: "signed_out", since: this.env.now() });
  }

  /** Nothing is heard from the other side: waiting for the close could take minutes. */
  private lost(): void {
    if (this.socket !== null) this.closed();
  }

  private hangUp(): void {
    const socket = this.socket;
    this.socket = null;
    this.open = false;
    this.env.clearTimer(this.timers.heartbeat);
    if (socket === null) return;
    socket.onopen = null;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }

  /** When the connection went down; it may have been going up and down since. */
  private downSince(): number {
    return this.state.state === "reconnecting" || this.state.state === "offline"
      ? this.state.since
      : this.env.now();
  }

  private worldChanged(): void {
    if (this.unwatch === null || this.state.state === "signed_out") return;
    if (!this.env.online()) {
      // A network that is gone is often back in a moment, with the socket dead.
      this.env.clearTimer(this.timers.retry);
      this.hangUp();
      this.set({ state: "offline", since: this.downSince() });
      return;
    }
    if (this.socket === null) {
      this.failures = 0;
      this.retryNow();
    } else if (this.open && this.env.visible()) {
      // Timers sleep in hidden tabs and in lids that are shut: see whether it still lives.
      this.ping();
    }
  }

  private expectLife(): void {
    this.env.clearTimer(this.timers.heartbeat);
    this.timers.heartbeat = this.env.setTimer(() => this.ping(), quietMS);
  }

  private ping(): void {
    this.send({ type: "ping" });
    this.env.clearTimer(this.timers.heartbeat);
    this.timers.heartbeat = this.env.setTimer(() => this.lost(), replyMS);
  }

  private subscribe(topic: string): void {
    let after = Number.MAX_SAFE_INTEGER;
    for (const w of this.topics.get(topic) ?? []) after = Math.min(after, w.after());
    this.send({ type: "subscribe", topic, after });
  }

  private send(message: { type: string; topic?: string; after?: number }): void {
    this.socket?.send(JSON.stringify(message));
  }

  private set(state: Connection): void {
    this.state = state;
    for (const l of this.listeners) l();
  }
}
