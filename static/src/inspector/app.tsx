/** The inspector as a whole. */

import { ListTree, PanelRight, Workflow, X } from "lucide-react";
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { liveClient } from "../live/browser";
import { InspectorContext, useFeed, useInspector, useNarrow, useUi } from "./context";
import { Detail } from "./detail/detail";
import { Dialogs } from "./dialog/dialogs";
import { Graph } from "./graph/graph";
import { Header } from "./header";
import { type Inspector, type Pane, remembered } from "./inspector";
import { listen } from "./keys";
import { poll } from "./poll";
import { Timeline } from "./timeline/timeline";

const panes: readonly { value: Pane; label: string; Icon: typeof Workflow }[] = [
  { value: "timeline", label: "Timeline", Icon: ListTree },
  { value: "graph", label: "Graph", Icon: Workflow },
  { value: "detail", label: "Detail", Icon: PanelRight },
];

/** On narrow screens: which pane is shown. */
function PaneSwitch() {
  const i = useInspector();
  const { pane } = useUi();
  return (
    <nav className="pn" aria-label="Parts of the run">
      {panes.map(({ value, label, Icon }) => (
        <button
          key={value}
          type="button"
          aria-current={value === pane ? "page" : undefined}
          onClick={() => i.ui.set({ pane: value })}
        >
          <Icon size={16} aria-hidden="true" /> {label}
        </button>
      ))}
    </nav>
  );
}

function Notice() {
  const i = useInspector();
  const { notice } = useUi();
  const { refused } = useFeed();
  useEffect(() => {
    if (notice?.tone !== "info") return;
    const timer = setTimeout(() => i.ui.set({ notice: null }), 3_000);
    return () => clearTimeout(timer);
  }, [i, notice]);
  const shown = notice ?? (refused === "" ? null : { text: `Not live: ${refused}`, tone: "danger" as const });
  return (
    <div className="nt" role="status" aria-live="polite">
      {shown !== null && (
        <div className="nt-box" data-tone={shown.tone}>
          <span>{shown.text}</span>
          {notice !== null && (
            <button
              type="button"
              className="in-icon"
              aria-label="Dismiss"
              onClick={() => i.ui.set({ notice: null })}
            >
              <X size={13} aria-hidden="true" />
            </button>
          )}
        </div>
      )}
    </div>
  );
}

type SplitProps = { name: string; label: string; axis: "x" | "y"; start: number; min: number; max: number };

/** A line between two panes, which can be dragged. The size is a percentage of what is around them. */
function Split({ name, label, axis, start, min, max }: SplitProps) {
  const ref = useRef<HTMLDivElement>(null);
  const stored = `sluice.inspector.${name}`;
  const [percent, setPercent] = useState(() => Number(localStorage.getItem(stored)) || start);
  useEffect(() => {
    ref.current?.parentElement?.style.setProperty(`--in-${name}`, `${percent}%`);
  }, [name, percent]);
  const set = (p: number) => {
    const next = Math.round(Math.min(max, Math.max(min, p)));
    setPercent(next);
    localStorage.setItem(stored, String(next));
  };
  const drag = (e: PointerEvent) => {
    const box = ref.current?.parentElement?.getBoundingClientRect();
    if (e.buttons !== 1 || box === undefined) return;
    set(
      axis === "x" ? ((box.right - e.clientX) / box.width) * 100 : ((e.clientY - box.top) / box.height) * 100,
    );
  };
  const [less, more] = axis === "x" ? ["ArrowRight", "ArrowLeft"] : ["ArrowUp", "ArrowDown"];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line between two panes that can be moved is no <hr>
    <div
      ref={ref}
      className="sp"
      data-axis={axis}
      role="separator"
      aria-orientation={axis === "x" ? "vertical" : "horizontal"}
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={drag}
      onKeyDown={(e) => {
        if (e.key === less) set(percent - 3);
        if (e.key === more) set(percent + 3);
      }}
    />
  );
}

function Wide() {
  return (
    <div className="in-wide">
      <div className="in-left">
        <Graph />
        <Split name="graph" label="Height of the graph" axis="y" start={44} min={12} max={80} />
        <Timeline />
      </div>
      <Split name="detail" label="Width of the detail" axis="x" start={34} min={20} max={60} />
      <Detail />
    </div>
  );
}

function Narrow() {
  const { pane } = useUi();
  return (
    <>
      <div className="in-narrow">
        {pane === "timeline" && <Timeline />}
        {pane === "graph" && <Graph />}
        {pane === "detail" && <Detail />}
      </div>
      <PaneSwitch />
    </>
  );
}

export function App({ inspector: i }: { inspector: Inspector }) {
  const narrow = useNarrow();
  useEffect(() => {
    const stops = [i.feed.follow(liveClient()), poll(i.feed, liveClient()), listen(i)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [i]);
  useEffect(() => restore(i), [i]);
  return (
    <InspectorContext.Provider value={i}>
      <div className="in">
        <Header />
        {narrow ? <Narrow /> : <Wide />}
        <Notice />
      </div>
      <Dialogs />
    </InspectorContext.Provider>
  );
}

/** Selects what the address names, as soon as it is there. */
function restore(i: Inspector): () => void {
  const wanted = remembered();
  if (wanted === "") return () => {};
  const stop = i.feed.subscribe(() => attempt());
  const attempt = () => {
    if (i.feed.spans.get(wanted) === undefined) return;
    stop();
    // Not from within a change: others are being told of it.
    queueMicrotask(() => i.select(wanted));
  };
  attempt();
  return stop;
}
