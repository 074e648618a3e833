/** The side panel: what is selected decides what it shows. On narrow screens it is a sheet. */

import { X } from "lucide-react";
import { useDeferredValue } from "react";
import { copyNodes } from "../../graph/clipboard";
import { nodeById } from "../../graph/tree";
import { plural } from "../builder";
import { useBuilder, useDocument, useUi } from "../context";
import { mod } from "../keys";
import { EdgePanel } from "./edge";
import { NodePanel } from "./node";
import { WorkflowPanel } from "./workflow";

export function Panel() {
  const b = useBuilder();
  const { sheet } = useUi();
  return (
    <aside className="bld-panel" data-open={sheet} aria-label="Settings">
      <button
        type="button"
        className="bld-sheet-close"
        aria-label="Close"
        onClick={() => b.ui.set({ sheet: false })}
      >
        <X size={18} aria-hidden="true" />
      </button>
      <Content />
    </aside>
  );
}

function Content() {
  const { definition } = useDocument();
  const { nodes, edges, panel } = useUi();
  // A box drawn over the canvas selects many nodes on its way; the panel need not follow each.
  const shown = useDeferredValue(nodes);
  if (panel === "issues") return <WorkflowPanel />;
  if (shown.size + edges.size > 1) return <ManyPanel />;
  const [id] = shown;
  const node = id === undefined ? undefined : nodeById(definition, id);
  if (node) return <NodePanel key={node.id} node={node} />;
  const [key] = edges;
  const edge = definition.edges.find((e) => e.key === key);
  if (edge) return <EdgePanel key={edge.key} edge={edge} />;
  return <WorkflowPanel />;
}

function ManyPanel() {
  const b = useBuilder();
  const { nodes, edges } = useUi();
  const copy = () => {
    // Without a secure connection there is no clipboard to write to; the copy event works all the same.
    if (navigator.clipboard) void navigator.clipboard.writeText(copyNodes(b.definition, nodes));
    else document.execCommand("copy");
  };
  const what = [
    nodes.size > 0 ? plural(nodes.size, "step") : "",
    edges.size > 0 ? plural(edges.size, "connection") : "",
  ];
  return (
    <>
      <header className="pn-head">
        <div className="pn-name">
          <div className="pn-title">{what.filter((w) => w !== "").join(" and ")} selected</div>
        </div>
      </header>
      <div className="pn-body">
        <div className="pn-actions">
          <button type="button" className="bt" onClick={copy}>
            Copy <kbd>{mod}C</kbd>
          </button>
          <button type="button" className="bt" onClick={() => b.duplicate()}>
            Duplicate <kbd>{mod}D</kbd>
          </button>
          <button type="button" className="bt bt--danger" onClick={() => b.deleteSelection()}>
            Delete <kbd>Delete</kbd>
          </button>
        </div>
      </div>
    </>
  );
}
