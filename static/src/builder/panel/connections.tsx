/** What a step leads to, as a list: connecting without drawing. */

import { ArrowRight, X } from "lucide-react";
import type { FlowNode } from "../../graph/definition";
import { removeEdges } from "../../graph/edit";
import { whyNotConnect } from "../../graph/rules";
import { type Handle, handlesOf, hasOutput, resolvedHandle, type Spec } from "../../graph/spec";
import { nodeById } from "../../graph/tree";
import { useBuilder, useDocument } from "../context";
import { IconButton } from "../form/lists";
import { Section, Select } from "../form/parts";

export function Connections({ node, spec }: { node: FlowNode; spec: Spec }) {
  const { definition } = useDocument();
  if (!hasOutput(spec)) return null;
  const out = definition.edges.filter((e) => e.source === node.id);
  return (
    <Section title="Next steps" note={out.length === 0 ? "none" : String(out.length)}>
      {handlesOf(spec, node).map((h) => (
        <HandleConnections key={h.id} node={node} spec={spec} handle={h} />
      ))}
    </Section>
  );
}

function HandleConnections({ node, spec, handle }: { node: FlowNode; spec: Spec; handle: Handle }) {
  const b = useBuilder();
  const { definition } = useDocument();
  const edges = definition.edges.filter(
    (e) => e.source === node.id && resolvedHandle(spec, node, e.handle) === handle.id,
  );
  const targets = definition.nodes
    .filter(
      (n) =>
        whyNotConnect(definition, b.kinds, { source: node.id, target: n.id, handle: handle.id }) === null,
    )
    .map((n) => ({ value: n.id, label: n.label || n.id }));
  const name = handle.label || "output";
  return (
    <div className="cn">
      {handle.label !== "" && (
        <div className="cn-handle" data-tone={handle.tone}>
          {handle.label}
        </div>
      )}
      {edges.map((e) => {
        const target = nodeById(definition, e.target);
        return (
          <div className="cn-row" key={e.key}>
            <ArrowRight size={13} aria-hidden="true" />
            <button
              type="button"
              className="cn-target"
              onClick={() => b.select([], [e.key])}
              title="Edit this connection"
            >
              {target?.label || e.target}
              {e.condition !== "" && <code>{e.condition}</code>}
            </button>
            <IconButton
              label={`Disconnect ${target?.label || e.target}`}
              onClick={() => b.edit("Disconnect", (d) => removeEdges(d, new Set([e.key])))}
            >
              <X size={13} aria-hidden="true" />
            </IconButton>
          </div>
        );
      })}
      <div className="cn-add">
        <Select
          value=""
          label={`Connect ${name} to`}
          options={[{ value: "", label: "Connect to…" }, ...targets]}
          onChange={(target) => target !== "" && b.connect({ source: node.id, target, handle: handle.id })}
        />
        <button
          type="button"
          className="bt bt--small"
          onClick={() =>
            b.ui.set({
              adding: {
                at: null,
                parent: node.parent,
                from: { source: node.id, handle: handle.id },
                edge: null,
              },
            })
          }
        >
          New step
        </button>
      </div>
    </div>
  );
}
