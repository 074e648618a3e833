/** The span tree, with what each span did when at its side. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { useInspector, useNarrow, useNow, useTree, useUi } from "../context";
import type { Inspector } from "../inspector";
import { busyTimes, rangeOf } from "../model/bar";
import { isFiltering, keysAbove, type Row, rowsOf } from "../model/rows";
import { everything, Scale, type View } from "../model/scale";
import { Empty } from "../parts";
import { Axis, Grid } from "./axis";
import { RowView, rowId } from "./row";
import { TimelineBar } from "./toolbar";
import { useZoom } from "./zoom";

/** In pixels; style/timeline.css and style/narrow.css have the same. */
const rowHeights = { wide: 28, narrow: 36 };

function useRows(): Row[] {
  const i = useInspector();
  const roots = useTree();
  const { toggled, filter, follow, active } = useUi();
  return useMemo(() => {
    const revealed = new Set(follow ? keysAbove((id) => i.feed.spans.get(id), active) : []);
    return rowsOf(roots, { toggled, filter, revealed });
  }, [i, roots, toggled, filter, follow, active]);
}

/** The axis as of now. Waits are cut short unless that is switched off. */
function useScale(now: number): { scale: Scale; view: View } {
  const i = useInspector();
  const roots = useTree();
  const { compact, zoom } = useUi();
  return useMemo(() => {
    const scale = new Scale(rangeOf(roots, now), compact ? busyTimes(roots, now, i.waits) : []);
    const view = zoom === null ? everything : { from: scale.at(zoom.from), to: scale.at(zoom.to) };
    return { scale, view };
  }, [i, roots, compact, zoom, now]);
}

/** Moves through the rows; what a key means where. */
function useKeys(i: Inspector, rows: readonly Row[], page: () => number) {
  return (e: KeyboardEvent) => {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const { active } = i.ui.get();
    const at = rows.findIndex((r) => r.key === active);
    const row = rows[at];
    const go = (to: number) => {
      const next = rows[Math.min(rows.length - 1, Math.max(0, to))];
      if (next) i.select(next.key);
    };
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + page()),
      PageUp: () => go(at - page()),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (row?.expandable && !row.expanded ? i.toggle(row.key, true) : go(at + 1)),
      ArrowLeft: () => {
        if (row?.expandable && row.expanded) i.toggle(row.key, false);
        else if (row) go(rows.slice(0, at).findLastIndex((r) => r.level < row.level));
      },
      Enter: () => openDetail(i),
      " ": () => row?.expandable && i.toggle(row.key, !row.expanded),
    };
    const action = actions[e.key];
    if (action === undefined) return;
    e.preventDefault();
    action();
  };
}

/** Goes on in the detail of the selected span. */
function openDetail(i: Inspector): void {
  i.ui.set({ pane: "detail" });
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(".dt [role=tab][aria-selected=true]")?.focus(),
  );
}

export function Timeline() {
  const i = useInspector();
  const { active, filter } = useUi();
  const narrow = useNarrow();
  const rowHeight = narrow ? rowHeights.narrow : rowHeights.wide;
  const now = useNow(matchMedia("(prefers-reduced-motion: reduce)").matches ? 1_000 : 250);
  const rows = useRows();
  const { scale, view } = useScale(now);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: (n) => rows[n]?.key ?? n,
  });
  const zoom = useZoom(i, scale, view, scroller);
  const at = rows.findIndex((r) => r.key === active);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  const page = () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
  const keys = useKeys(i, rows, page);
  return (
    <section className="tl" aria-label="Timeline">
      <TimelineBar zoom={zoom} rows={rows.length} />
      <div className="tl-head">
        <div className="tl-head-tree">Step</div>
        <Divider />
        <Axis scale={scale} view={view} zoom={zoom} most={narrow ? 3 : 7} />
      </div>
      <div
        className="tl-rows"
        ref={scroller}
        role="tree"
        aria-label="Steps of the run"
        tabIndex={0}
        aria-activedescendant={at >= 0 ? rowId(active) : undefined}
        onKeyDown={keys}
      >
        {rows.length === 0 && (
          <Empty>{isFiltering(filter) ? "No step matches." : "Nothing has happened yet."}</Empty>
        )}
        <Grid scale={scale} view={view} most={narrow ? 3 : 7} />
        <div className="tl-sheet" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((v) => {
            const row = rows[v.index];
            return (
              row && (
                <RowView
                  key={v.key}
                  row={row}
                  top={v.start}
                  scale={scale}
                  view={view}
                  now={now}
                  active={row.key === active}
                />
              )
            );
          })}
        </div>
      </div>
    </section>
  );
}

const treeWidth = "sluice.inspector.tree";

/** The line between the tree and the bars, which can be dragged. */
function Divider() {
  const ref = useRef<HTMLDivElement>(null);
  const [percent, setPercent] = useState(() => Number(localStorage.getItem(treeWidth)) || 38);
  useEffect(() => {
    ref.current?.closest<HTMLElement>(".tl")?.style.setProperty("--tl-tree", `${percent}%`);
  }, [percent]);
  const set = (p: number) => {
    const next = Math.round(Math.min(70, Math.max(18, p)));
    setPercent(next);
    localStorage.setItem(treeWidth, String(next));
  };
  const drag = (e: PointerEvent<HTMLDivElement>) => {
    const box = ref.current?.parentElement?.getBoundingClientRect();
    if (e.buttons === 1 && box) set(((e.clientX - box.left) / box.width) * 100);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line between two panes that can be moved is no <hr>
    <div
      ref={ref}
      className="tl-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the step column"
      aria-valuenow={percent}
      aria-valuemin={18}
      aria-valuemax={70}
      tabIndex={0}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={drag}
      onKeyDown={(e) => {
        if (e.key === "ArrowLeft") set(percent - 2);
        if (e.key === "ArrowRight") set(percent + 2);
      }}
    />
  );
}
