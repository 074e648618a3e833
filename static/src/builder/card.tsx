/** A step on the canvas. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { CircleAlert, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { KindIcon } from "../graph/icons";
import { type Issue, worst } from "../graph/issue";
import { metrics, showsHandleRows } from "../graph/sizes";
import { hasInput, hasOutput, type Handle as Output } from "../graph/spec";
import { summaryOf } from "../graph/summary";
import { anyHandle, type CardNode, toHandle } from "./flow";

export function IssueBadge({ issues }: { issues: readonly Issue[] }) {
  const severity = worst(issues);
  if (severity === null) return null;
  const Icon = severity === "error" ? CircleAlert : TriangleAlert;
  const text = issues.map((i) => i.message).join("\n");
  return (
    <span className="bn-issue" data-severity={severity} title={text} role="img" aria-label={text}>
      <Icon size={14} aria-hidden="true" />
    </span>
  );
}

/** Outputs that the document uses but the node doesn't have are drawn from here. */
export function SpareHandle({ top }: { top: number }) {
  return (
    <Handle
      id={anyHandle}
      type="source"
      position={Position.Right}
      isConnectable={false}
      className="bn-spare"
      style={{ top }}
    />
  );
}

function HandleRow({ handle, top }: { handle: Output; top: number }) {
  return (
    <>
      <span className="bn-out" data-tone={handle.tone} style={{ top: top - metrics.handleRow / 2 }}>
        {handle.label || handle.id}
      </span>
      <Handle
        id={toHandle(handle.id)}
        type="source"
        position={Position.Right}
        className="bn-handle"
        data-tone={handle.tone}
        style={{ top }}
        title={handle.label}
      />
    </>
  );
}

export const Card = memo(function Card({ data, selected }: NodeProps<CardNode>) {
  const { node, spec, handles, issues } = data;
  const summary = summaryOf(spec, node);
  const port = metrics.header / 2;
  const rows = showsHandleRows(spec, node);
  const first = metrics.header + (summary === "" ? 0 : metrics.summary) + metrics.handleRow / 2;
  const title = node.label || node.id;
  return (
    <div className="bn" data-group={spec.group} data-selected={selected} data-severity={worst(issues)}>
      {hasInput(spec) && (
        <Handle id="in" type="target" position={Position.Left} className="bn-handle" style={{ top: port }} />
      )}
      <div className="bn-head">
        <span className="bn-icon">
          <KindIcon name={spec.icon} />
        </span>
        <div className="bn-text">
          <div className="bn-title" title={title}>
            {title}
          </div>
          <div className="bn-sub" title={node.id}>
            {title.toLowerCase() === spec.title.toLowerCase() ? node.id : spec.title}
          </div>
        </div>
        <IssueBadge issues={issues} />
      </div>
      {summary !== "" && (
        <div className="bn-summary" title={summary}>
          {summary}
        </div>
      )}
      {hasOutput(spec) && <SpareHandle top={port} />}
      {hasOutput(spec) && !rows && (
        <Handle
          id={toHandle(handles[0]?.id ?? "")}
          type="source"
          position={Position.Right}
          className="bn-handle"
          style={{ top: port }}
        />
      )}
      {rows && handles.map((h, i) => <HandleRow key={h.id} handle={h} top={first + i * metrics.handleRow} />)}
    </div>
  );
});
