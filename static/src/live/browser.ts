/** The live client in a browser: one per page, however many scripts use it. */

import { type Environment, LiveClient, type Socket } from "./client";

function socketURL(): string {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/ws`;
}

const environment: Environment = {
  connect: () => new WebSocket(socketURL()) as Socket,
  now: Date.now,
  random: Math.random,
  setTimer: (f, ms) => window.setTimeout(f, ms),
  clearTimer: (id) => window.clearTimeout(id),
  online: () => navigator.onLine,
  visible: () => document.visibilityState === "visible",
  watch(changed) {
    const abort = new AbortController();
    const { signal } = abort;
    window.addEventListener("online", changed, { signal });
    window.addEventListener("offline", changed, { signal });
    // A page that comes back from the history cache has lost its socket.
    window.addEventListener("pageshow", changed, { signal });
    document.addEventListener("visibilitychange", changed, { signal });
    return () => abort.abort();
  },
};

let client: LiveClient | null = null;

/** The page's client. It connects when something is watched. */
export function liveClient(): LiveClient {
  client ??= new LiveClient(environment);
  return client;
}
