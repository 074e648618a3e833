/** A loop, a parallel or one of its branches: a frame around other steps. */

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { Plus } from "lucide-react";
import { memo } from "react";
import { KindIcon } from "../graph/icons";
import { worst } from "../graph/issue";
import { hasInput, hasOutput } from "../graph/spec";
import { summaryOf } from "../graph/summary";
import { IssueBadge, SpareHandle } from "./card";
import { useBuilder } from "./context";
import { type CardNode, toHandle } from "./flow";

function emptyText(container: string): string {
  return container === "parallel" ? "Add a branch for each thing that happens at once" : "Drop steps here";
}

export const ContainerFrame = memo(function ContainerFrame({ data, selected, height }: NodeProps<CardNode>) {
  const b = useBuilder();
  const { node, spec, handles, issues } = data;
  const middle = (height ?? 0) / 2;
  const summary = summaryOf(spec, node);
  const title = node.label || node.id;
  const addInside = () => {
    const inside = { at: null, parent: node.id, from: null, edge: null };
    if (spec.container === "parallel") b.add("branch", inside);
    else b.ui.set({ adding: inside });
  };
  return (
    <div
      className="bc"
      data-group={spec.group}
      data-container={spec.container}
      data-selected={selected}
      data-target={data.target}
      data-severity={worst(issues)}
    >
      {hasInput(spec) && (
        <Handle
          id="in"
          type="target"
          position={Position.Left}
          className="bn-handle"
          style={{ top: middle }}
        />
      )}
      <div className="bc-head">
        <span className="bn-icon">
          <KindIcon name={spec.icon} size={14} />
        </span>
        <span className="bc-title" title={title}>
          {title}
        </span>
        {summary !== "" && (
          <span className="bc-summary" title={summary}>
            {summary}
          </span>
        )}
        <IssueBadge issues={issues} />
        <button
          type="button"
          className="bc-add nodrag"
          onClick={(e) => {
            e.stopPropagation();
            addInside();
          }}
          aria-label={
            spec.container === "parallel" ? `Add a branch to ${title}` : `Add a step inside ${title}`
          }
        >
          <Plus size={14} aria-hidden="true" />
        </button>
      </div>
      {data.empty && <div className="bc-empty">{emptyText(spec.container)}</div>}
      {hasOutput(spec) && <SpareHandle top={middle} />}
      {hasOutput(spec) &&
        handles.map((h, i) => (
          <Handle
            key={h.id}
            id={toHandle(h.id)}
            type="source"
            position={Position.Right}
            className="bn-handle"
            data-tone={h.tone}
            title={h.label}
            style={{ top: middle + (i - (handles.length - 1) / 2) * 28 }}
          />
        ))}
    </div>
  );
});
