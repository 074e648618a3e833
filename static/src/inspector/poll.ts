/** The API in place of the websocket while that is down: at first, and where a proxy lets none through. */

import type { LiveClient } from "../live/client";
import type { RunFeed } from "../live/run";
import { isOver } from "../live/span";
import { loadRun, loadSpans } from "./api";

const everyMS = 4_000;

/** Asks for what is new while there is no live connection, until the returned function is called. */
export function poll(feed: RunFeed, client: LiveClient): () => void {
  let timer = 0;
  let stopped = false;
  const ask = async () => {
    const down = client.connection().state !== "live";
    const over = isOver(feed.snapshot().run?.status ?? "") && feed.spans.size > 0;
    if (down && !over && navigator.onLine && document.visibilityState === "visible") {
      try {
        const [run, { spans, seq }] = await Promise.all([
          loadRun(feed.runId),
          loadSpans(feed.runId, feed.spans.seq),
        ]);
        if (!stopped) feed.load(run, spans, seq);
      } catch {
        // The server is away as well. The connection's state says so.
      }
    }
    if (!stopped) timer = window.setTimeout(() => void ask(), everyMS);
  };
  // The websocket gets a moment to make this unnecessary.
  timer = window.setTimeout(() => void ask(), 1_000);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
