/** The API in place of the websocket while that is down: at first, and where a proxy lets none through. */

import type { LiveClient } from "../live/client";
import type { RunFeed } from "../live/run";
import { isOver } from "../live/span";
import { loadRun, loadSpans } from "./api";

const everyMS = 4_000;

/** An answer's span may come after spans with higher numbers: so far back is asked again. */
const overlap = 200;

/** Asks for what is new while there is no live connection, until the returned function is called. */
export function poll(feed: RunFeed, client: LiveClient): () => void {
  let timer = 0;
  let stopped = false;
  const ask = async () => {
    const { state } = client.connection();
    const down = state !== "live" && state !== "signed_out";
    const over = isOver(feed.snapshot().run?.status ?? "") && feed.spans.size > 0;
    if (down && !over && navigator.onLine && document.visibilityState === "visible") {
      try {
        const run = await loadRun(feed.runId);
        let after: number | null = Math.max(0, feed.spans.seq - overlap);
        // Page by page, until the connection is there and makes the rest unnecessary.
        while (after !== null && !stopped && client.connection().state !== "live") {
          const page = await loadSpans(feed.runId, after);
          if (!stopped) feed.load(run, page.spans, page.seq);
          after = page.next;
        }
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
