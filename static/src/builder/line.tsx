/** A connection, with its condition and a button to put a step onto it. */

import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from "@xyflow/react";
import { Plus } from "lucide-react";
import { memo } from "react";
import { nodeById } from "../graph/tree";
import { useBuilder } from "./context";
import type { LineEdge } from "./flow";

export const Line = memo(function Line(p: EdgeProps<LineEdge>) {
  const b = useBuilder();
  const [path, x, y] = getBezierPath({ ...p, curvature: 0.3 });
  const { label = "", tone = "", severity = null } = p.data ?? {};
  const insert = () => {
    const parent = nodeById(b.definition, p.source)?.parent ?? "";
    b.ui.set({ adding: { at: null, parent, from: null, edge: p.id } });
  };
  return (
    <>
      <BaseEdge
        id={p.id}
        path={path}
        interactionWidth={18}
        className="be"
        data-tone={tone}
        data-severity={severity}
        data-conditional={p.data?.edge.condition !== ""}
        {...(p.markerEnd === undefined ? {} : { markerEnd: p.markerEnd })}
      />
      <EdgeLabelRenderer>
        <div
          className="be-label nodrag nopan"
          data-selected={p.selected}
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
        >
          {label !== "" && (
            <button
              type="button"
              className="be-text"
              data-severity={severity}
              title={label}
              onClick={() => b.select([], [p.id])}
            >
              {label}
            </button>
          )}
          <button
            type="button"
            className="be-add"
            tabIndex={-1}
            aria-label="Insert a step here"
            onClick={insert}
          >
            <Plus size={12} aria-hidden="true" />
          </button>
        </div>
      </EdgeLabelRenderer>
    </>
  );
});
