/** A row of the timeline. */

import { ChevronRight } from "lucide-react";
import { memo } from "react";
import { iterationIndex, type SpanNode } from "../../live/tree";
import { useInspector, useNarrow } from "../context";
import { shownStatus } from "../model/activity";
import { endOf, type Part, partsOf } from "../model/bar";
import { amount, duration, plural, ticking } from "../model/format";
import { isFailed, type Row } from "../model/rows";
import type { Scale, View } from "../model/scale";
import { lookOf, StatusIcon } from "../status";
import { percent } from "./axis";

export function rowId(key: string): string {
  return `tl-${key}`;
}

function isOpen(node: SpanNode): boolean {
  return Number.isNaN(node.span.end) && lookOf(node.span.status).tone !== "quiet";
}

function durationOf(node: SpanNode, now: number): string {
  const { start, status } = node.span;
  if (Number.isNaN(start) || status === "skipped") return "";
  const ms = endOf(node, now) - start;
  return isOpen(node) ? ticking(ms) : duration(ms);
}

type Summary = { name: string; status: string; note: string; time: string; failed: boolean };

function pageStatus(nodes: readonly SpanNode[]): string {
  const has = (status: string) => nodes.some((n) => shownStatus(n) === status);
  for (const s of ["running", "retrying", "parked", "failed", "cancelled"]) if (has(s)) return s;
  return "succeeded";
}

function summaryOf(row: Row, now: number): Summary {
  const { node, page } = row;
  if (page !== null) {
    const failed = page.nodes.filter((n) => isFailed(n.span)).length;
    return {
      name: `Items ${amount(page.from)}–${amount(page.from + page.nodes.length - 1)}`,
      status: pageStatus(page.nodes),
      note: failed > 0 ? `${amount(failed)} failed` : "",
      time: "",
      failed: failed > 0,
    };
  }
  const { span } = node;
  const notes = [];
  if (span.round > 0) notes.push(`round ${span.round + 1}`);
  if (node.attempts.length > 1) notes.push(plural(node.attempts.length, "attempt"));
  return {
    name:
      span.kind === "iteration"
        ? `Item ${amount(iterationIndex(span))}`
        : span.name || span.node_id || span.id,
    status: shownStatus(node),
    note: notes.join(" · "),
    time: durationOf(node, now),
    failed: isFailed(span),
  };
}

const partLabels: Record<Part["kind"], string> = {
  work: "Working",
  lead: "Not begun yet",
  wait: "Waiting",
  backoff: "Waiting to retry",
  frame: "From start to end",
};

function Bars({ parts, scale, view }: { parts: readonly Part[]; scale: Scale; view: View }) {
  return parts.map((p) => {
    const left = percent(scale.at(p.from), view);
    const right = percent(scale.at(p.to), view);
    if (right < -1 || left > 101) return null;
    const [from, to] = [Math.max(-1, left), Math.min(101, right)];
    return (
      <div
        key={`${p.kind}${p.from}`}
        className="tl-part"
        data-kind={p.kind}
        data-tone={lookOf(p.status).tone}
        data-open={p.open}
        style={{ left: `${from}%`, width: `${to - from}%` }}
        title={`${partLabels[p.kind]}: ${duration(p.to - p.from)}`}
      />
    );
  });
}

function Guides({ row }: { row: Row }) {
  const lines = row.guides.slice(1);
  return (
    <span className="tl-guides" aria-hidden="true">
      {lines.map((on, n) => (
        <span key={n} data-on={on} />
      ))}
      {row.level > 1 && <span data-elbow={row.last ? "last" : "more"} />}
    </span>
  );
}

type RowProps = { row: Row; top: number; scale: Scale; view: View; now: number; active: boolean };

/** The parts of a page of a loop: from its first item's start to its last one's end. */
function pageParts(nodes: readonly SpanNode[], now: number): Part[] {
  const begun = nodes.filter((n) => !Number.isNaN(n.span.start));
  if (begun.length === 0) return [];
  const from = Math.min(...begun.map((n) => n.span.start));
  const to = Math.max(...begun.map((n) => endOf(n, now)));
  return [{ kind: "frame", from, to, status: pageStatus(nodes), open: begun.some(isOpen) }];
}

export const RowView = memo(function RowView({ row, top, scale, view, now, active }: RowProps) {
  const i = useInspector();
  const narrow = useNarrow();
  const s = summaryOf(row, now);
  const parts = row.page ? pageParts(row.page.nodes, now) : partsOf(row.node, now, i.waits);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it has the focus and takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree names the active row instead
    <div
      id={rowId(row.key)}
      className="tl-row"
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.expandable ? row.expanded : undefined}
      aria-selected={active}
      data-status={s.status}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => i.select(row.key, narrow && active ? { pane: "detail" } : {})}
      onDoubleClick={() => row.expandable && i.toggle(row.key, !row.expanded)}
    >
      <div className="tl-tree">
        <Guides row={row} />
        {row.expandable ? (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys of the tree do the same
          // biome-ignore lint/a11y/noStaticElementInteractions: a part of the row, which has the role
          <span
            className="tl-fold"
            data-open={row.expanded}
            onClick={(e) => {
              e.stopPropagation();
              i.toggle(row.key, !row.expanded);
            }}
          >
            <ChevronRight size={13} aria-hidden="true" />
          </span>
        ) : (
          <span className="tl-fold" />
        )}
        <StatusIcon status={s.status} />
        <span className="tl-name" dir="auto">
          {s.name}
        </span>
        <span className="in-sr">{lookOf(s.status).label}</span>
        {s.note !== "" && (
          <span className="tl-note" data-danger={s.failed}>
            {s.note}
          </span>
        )}
        <span className="tl-time">{s.time}</span>
      </div>
      <div className="tl-bars" aria-hidden="true">
        <Bars parts={parts} scale={scale} view={view} />
      </div>
    </div>
  );
});
