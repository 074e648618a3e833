/** When a span began and ended, and what the time between went to. */

import type { ReactNode } from "react";
import type { SpanNode } from "../../live/tree";
import { useInspector, useNow } from "../context";
import { busyTimes, type PartKind, partsOf, type Waits } from "../model/bar";
import { duration, exact, moment } from "../model/format";

/** The sum of a span's parts of a kind; of a container, the time in which something inside worked. */
function spent(node: SpanNode, kind: PartKind, now: number, waits: Waits): number {
  if (kind === "work" && node.children.length > 0) {
    return busyTimes([node], now, waits).reduce((sum, b) => sum + b.to - b.from, 0);
  }
  return partsOf(node, now, waits)
    .filter((p) => p.kind === kind)
    .reduce((sum, p) => sum + Math.min(p.to, now) - p.from, 0);
}

export function Timing({ node }: { node: SpanNode }) {
  const i = useInspector();
  const now = useNow(1_000);
  const { span } = node;
  const total = (Number.isNaN(span.end) ? now : span.end) - span.start;
  const [work, wait, backoff] = [
    spent(node, "work", now, i.waits),
    spent(node, "wait", now, i.waits),
    spent(node, "backoff", now, i.waits),
  ];
  const lines: [string, ReactNode][] = [
    ["Began", <Time key="began" at={span.start} />],
    ["Ended", <Time key="ended" at={span.end} />],
    ["In all", Number.isNaN(span.start) ? "" : duration(total)],
    [node.children.length > 0 ? "Something inside worked" : "Worked", work > 0 ? duration(work) : ""],
    ["Waited to be answered", wait > 0 ? duration(wait) : ""],
    ["Waited to retry", backoff > 0 ? duration(backoff) : ""],
    ["Change", `no. ${span.seq} of the run`],
  ];
  return (
    <dl className="in-pairs">
      {lines
        .filter(([, v]) => v !== "")
        .map(([k, v]) => (
          <div key={k}>
            <dt>{k}</dt>
            <dd>{v}</dd>
          </div>
        ))}
    </dl>
  );
}

function Time({ at }: { at: number }) {
  if (Number.isNaN(at)) return "not yet";
  return (
    <>
      <time dateTime={exact(at)}>{moment(at)}</time> <span className="dt-note">{exact(at)}</span>
    </>
  );
}
