/** A loop, a parallel or a branch on the graph, with how far it is. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { memo } from "react";
import { toHandle } from "../../builder/flow";
import { KindIcon } from "../../graph/icons";
import { hasOutput } from "../../graph/spec";
import { useInspector } from "../context";
import { amount } from "../model/format";
import type { Progress } from "../model/overlay";
import { lookOf, StatusIcon } from "../status";
import type { StepNode } from "./flow";
import { Ports, timeOf } from "./step";

function progressText(p: Progress): string {
  const of = p.total >= 0 ? `${amount(p.done)}/${amount(p.total)}` : amount(p.done);
  return `${of} items${p.failed > 0 ? `, ${amount(p.failed)} failed` : ""}`;
}

/** Chooses the iteration that the steps inside are shown of. */
function Picker({
  progress,
  pick,
  title,
}: {
  progress: Progress;
  pick: (index: number) => void;
  title: string;
}) {
  const { indexes, shown } = progress;
  const at = indexes.indexOf(shown);
  const step = (by: number) => {
    const next = indexes[at + by];
    if (next !== undefined) pick(next);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: only keeps clicks on the buttons from selecting the node
    // biome-ignore lint/a11y/noStaticElementInteractions: only keeps clicks on the buttons from selecting the node
    <span className="gf-picker nodrag nopan" onClick={(e) => e.stopPropagation()}>
      <button
        type="button"
        aria-label={`Previous item of ${title}`}
        disabled={at <= 0}
        onClick={() => step(-1)}
      >
        <ChevronLeft size={13} aria-hidden="true" />
      </button>
      <label>
        <span className="in-sr">Item of {title}</span>
        <input
          type="number"
          min={indexes[0]}
          max={indexes.at(-1)}
          value={shown}
          onChange={(e) => {
            const n = Number(e.target.value);
            if (e.target.value !== "" && indexes.includes(n)) pick(n);
          }}
          onKeyDown={(e) => e.stopPropagation()}
        />
      </label>
      <button
        type="button"
        aria-label={`Next item of ${title}`}
        disabled={at < 0 || at >= indexes.length - 1}
        onClick={() => step(1)}
      >
        <ChevronRight size={13} aria-hidden="true" />
      </button>
    </span>
  );
}

/** A bar that fills; the part that failed is told apart. */
function ProgressBar({ progress: p }: { progress: Progress }) {
  const total = Math.max(1, p.total >= 0 ? p.total : p.done + p.running);
  return (
    <span className="gf-bar" aria-hidden="true">
      <span style={{ width: `${((p.done - p.failed) / total) * 100}%` }} />
      <span data-tone="danger" style={{ width: `${(p.failed / total) * 100}%` }} />
    </span>
  );
}

export const Frame = memo(function Frame({ data, selected, height }: NodeProps<StepNode>) {
  const i = useInspector();
  const { node, spec, handles, state } = data;
  const { progress, span } = state;
  const middle = (height ?? 0) / 2;
  const title = node.label || node.id;
  return (
    <div
      className="gf"
      data-container={spec.container}
      data-selected={selected}
      data-tone={lookOf(state.status).tone}
      data-status={state.status}
    >
      <div className="gf-head">
        <span className="gn-icon" data-group={spec.group}>
          <KindIcon name={spec.icon} size={14} />
        </span>
        <span className="gf-title" dir="auto" title={title}>
          {title}
        </span>
        {progress === null ? (
          <span className="gf-note">{timeOf(data)}</span>
        ) : (
          <span className="gf-note">{progressText(progress)}</span>
        )}
        {progress !== null && progress.indexes.length > 0 && span !== undefined && (
          <Picker progress={progress} title={title} pick={(n) => i.pick(span, n)} />
        )}
        {state.status !== "" && <StatusIcon status={state.status} size={15} />}
      </div>
      {progress !== null && <ProgressBar progress={progress} />}
      <Ports data={data} top={middle} />
      {hasOutput(spec) &&
        handles.map((h, n) => (
          <Handle
            key={h.id}
            id={toHandle(h.id)}
            type="source"
            position={Position.Right}
            className="gn-port"
            style={{ top: middle + (n - (handles.length - 1) / 2) * 28 }}
          />
        ))}
    </div>
  );
});
