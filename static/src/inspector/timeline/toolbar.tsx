/** What is shown of the timeline, and how. */

import {
  ChevronsDownUp,
  ChevronsUpDown,
  Crosshair,
  FoldHorizontal,
  Maximize,
  Search,
  X,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { isOver } from "../../live/span";
import { useInspector, useRun, useTree, useUi } from "../context";
import { amount, plural } from "../model/format";
import { failuresIn, isFiltering } from "../model/rows";
import { IconButton } from "../parts";
import type { Zoom } from "./zoom";

export const filterId = "tl-filter";

function FilterBox({ rows }: { rows: number }) {
  const i = useInspector();
  const { filter } = useUi();
  return (
    <div className="tl-filter">
      <Search size={13} aria-hidden="true" />
      <input
        id={filterId}
        value={filter.text}
        placeholder="Filter steps"
        aria-label="Filter steps by name, type, address or error"
        autoComplete="off"
        spellCheck={false}
        onChange={(e) => i.ui.set({ filter: { ...filter, text: e.target.value } })}
        onKeyDown={(e) => {
          if (e.key !== "Escape") return;
          i.ui.set({ filter: { ...filter, text: "" } });
          e.currentTarget.blur();
        }}
      />
      <span className="tl-count" role="status">
        {isFiltering(filter) && amount(rows)}
      </span>
      {filter.text !== "" && (
        <IconButton label="Clear the filter" onClick={() => i.ui.set({ filter: { ...filter, text: "" } })}>
          <X size={13} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  );
}

function Failures() {
  const i = useInspector();
  const n = failuresIn(useTree()).length;
  const { filter } = useUi();
  if (n === 0 && !filter.failedOnly) return null;
  return (
    <button
      type="button"
      className="in-chip"
      data-tone="danger"
      aria-pressed={filter.failedOnly}
      title="Show only what failed. [ and ] go from failure to failure."
      onClick={() => i.ui.set({ filter: { ...filter, failedOnly: !filter.failedOnly } })}
    >
      {plural(n, "failure")}
    </button>
  );
}

export function TimelineBar({ zoom, rows }: { zoom: Zoom; rows: number }) {
  const i = useInspector();
  const over = isOver(useRun().status);
  const { follow, compact } = useUi();
  return (
    <div className="tl-bar" role="toolbar" aria-label="Timeline">
      <FilterBox rows={rows} />
      <Failures />
      {!over && (
        <button
          type="button"
          className="in-chip"
          data-tone="active"
          aria-pressed={follow}
          title="Keep what runs in view (F)"
          onClick={() => i.setFollow(!follow)}
        >
          <Crosshair size={12} aria-hidden="true" /> Follow
        </button>
      )}
      <div className="tl-tools">
        <IconButton label="Open all" onClick={() => i.toggleAll(true)}>
          <ChevronsUpDown size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label="Close all" onClick={() => i.toggleAll(false)}>
          <ChevronsDownUp size={14} aria-hidden="true" />
        </IconButton>
        <span className="in-sep" />
        <IconButton
          label="Cut waits short"
          pressed={compact}
          onClick={() => i.ui.set({ compact: !compact, zoom: null })}
        >
          <FoldHorizontal size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label="Zoom out" keys="−" disabled={zoom.whole} onClick={() => zoom.by(1 / 1.6)}>
          <ZoomOut size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label="Zoom in" keys="+" onClick={() => zoom.by(1.6)}>
          <ZoomIn size={14} aria-hidden="true" />
        </IconButton>
        <IconButton label="All of it" keys="0" disabled={zoom.whole} onClick={() => zoom.fit()}>
          <Maximize size={14} aria-hidden="true" />
        </IconButton>
      </div>
    </div>
  );
}
