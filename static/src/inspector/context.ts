import { createContext, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { liveClient } from "../live/browser";
import type { Connection } from "../live/client";
import type { RunState } from "../live/run";
import { isOver, type Run } from "../live/span";
import type { SpanNode } from "../live/tree";
import { serverNow } from "./api";
import type { Inspector, Ui } from "./inspector";

export const InspectorContext = createContext<Inspector | null>(null);

export function useInspector(): Inspector {
  const i = useContext(InspectorContext);
  if (i === null) throw new Error("the inspector's views need its context");
  return i;
}

export function useUi(): Ui {
  const { ui } = useInspector();
  return useSyncExternalStore(ui.subscribe, ui.get);
}

export function useFeed(): RunState {
  const { feed } = useInspector();
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}

export function useRun(): Run {
  const i = useInspector();
  return useFeed().run ?? i.run;
}

/** The span tree, anew whenever a span changes. */
export function useTree(): SpanNode[] {
  const i = useInspector();
  useFeed();
  return i.roots();
}

export function useConnection(): Connection {
  const client = liveClient();
  return useSyncExternalStore(client.onConnection, client.connection);
}

/**
 * The server's time, ticking while the run goes on and the page is seen. It stands
 * still without a network or a session: what the run does meanwhile is not known.
 */
export function useNow(everyMS = 250): number {
  const over = isOver(useRun().status);
  const { state } = useConnection();
  const offline = state === "offline" || state === "signed_out";
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (offline) return;
    setNow(serverNow());
    if (over) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(serverNow());
    }, everyMS);
    return () => clearInterval(timer);
  }, [over, offline, everyMS]);
  return now;
}

/** Whether the screen has room for one pane only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(onNarrow, isNarrow);
}

const narrow = matchMedia("(max-width: 820px)");
const isNarrow = (): boolean => narrow.matches;
function onNarrow(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}
