/** A step on the graph, with its status. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { anyHandle, toHandle } from "../../builder/flow";
import { KindIcon } from "../../graph/icons";
import { metrics, showsHandleRows } from "../../graph/sizes";
import { hasInput, hasOutput, type Handle as Output } from "../../graph/spec";
import { summaryOf } from "../../graph/summary";
import { duration } from "../model/format";
import { lookOf, StatusIcon } from "../status";
import type { StepData, StepNode } from "./flow";

/** Where lines begin and end: points, since nothing is connected here. */
export function Ports({ data, top }: { data: StepData; top: number }) {
  const { spec } = data;
  return (
    <>
      {hasInput(spec) && (
        <Handle id="in" type="target" position={Position.Left} className="gn-port" style={{ top }} />
      )}
      {hasOutput(spec) && (
        <Handle id={anyHandle} type="source" position={Position.Right} className="gn-port" style={{ top }} />
      )}
    </>
  );
}

function Outputs({ data, first }: { data: StepData; first: number }) {
  const chosen = data.state.span?.attributes.handle;
  return data.handles.map((h: Output, n) => {
    const top = first + n * metrics.handleRow;
    return (
      <span key={h.id}>
        <span className="gn-out" data-chosen={h.id === chosen} style={{ top: top - metrics.handleRow / 2 }}>
          {h.label || h.id}
        </span>
        <Handle
          id={toHandle(h.id)}
          type="source"
          position={Position.Right}
          className="gn-port"
          style={{ top }}
        />
      </span>
    );
  });
}

/** How long it took; while it goes on the timeline tells. */
export function timeOf(data: StepData): string {
  const { span } = data.state;
  return span === undefined || span.status === "skipped" ? "" : duration(span.end - span.start);
}

export const Step = memo(function Step({ data, selected }: NodeProps<StepNode>) {
  const { node, spec, handles, state } = data;
  const summary = summaryOf(spec, node);
  const rows = showsHandleRows(spec, node);
  const port = metrics.header / 2;
  const first = metrics.header + (summary === "" ? 0 : metrics.summary) + metrics.handleRow / 2;
  const title = node.label || node.id;
  return (
    <div
      className="gn"
      data-selected={selected}
      data-tone={lookOf(state.status).tone}
      data-status={state.status}
    >
      <div className="gn-head">
        <span className="gn-icon" data-group={spec.group}>
          <KindIcon name={spec.icon} />
        </span>
        <div className="gn-text">
          <div className="gn-title" dir="auto" title={title}>
            {title}
          </div>
          <div className="gn-sub">
            {state.status === ""
              ? spec.title
              : [lookOf(state.status).label, timeOf(data)].filter(Boolean).join(" · ")}
          </div>
        </div>
        {state.status !== "" && <StatusIcon status={state.status} size={16} />}
      </div>
      {summary !== "" && (
        <div className="gn-summary" dir="auto" title={summary}>
          {summary}
        </div>
      )}
      <Ports data={data} top={port} />
      {rows ? (
        <Outputs data={data} first={first} />
      ) : (
        hasOutput(spec) && (
          <Handle
            id={toHandle(handles[0]?.id ?? "")}
            type="source"
            position={Position.Right}
            className="gn-port"
            style={{ top: port }}
          />
        )
      )}
    </div>
  );
});
