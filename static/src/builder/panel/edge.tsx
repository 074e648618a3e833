/** One connection: where it leads, by which output, under which condition. */

import { ArrowRight, Trash2 } from "lucide-react";
import { useId, useMemo } from "react";
import type { FlowEdge } from "../../graph/definition";
import { updateEdge } from "../../graph/edit";
import { edgeIndex } from "../../graph/issue";
import { handlesOf, takesAny } from "../../graph/spec";
import { nodeById } from "../../graph/tree";
import { suggestionsAt } from "../../graph/upstream";
import { useBuilder, useDocument, useUi } from "../context";
import { FormContext } from "../form/context";
import { TemplateField } from "../form/fields";
import { IconButton } from "../form/lists";
import { Field, IssueLines, Select } from "../form/parts";

const conditionSchema = {
  type: "string",
  "x-mode": "expression",
  "x-ui": { placeholder: "step.review.score > 0.8" },
  description: "The connection counts only if this is true. Empty: always.",
};

export function EdgePanel({ edge }: { edge: FlowEdge }) {
  const b = useBuilder();
  const id = useId();
  const { definition } = useDocument();
  const { issues, focusField } = useUi();
  const index = definition.edges.indexOf(edge);
  const source = nodeById(definition, edge.source);
  const target = nodeById(definition, edge.target);
  const spec = b.spec(source?.type ?? "");
  const handles = source ? handlesOf(spec, source) : [];
  const own = useMemo(() => issues.filter((i) => edgeIndex(i) === index), [issues, index]);
  const facts = useMemo(() => {
    const suggestions = suggestionsAt(definition, b.kinds, edge.target);
    // The condition is judged after its source, whose output is nearest.
    const field = own.map((i) => ({ ...i, field: i.field.endsWith(".condition") ? "condition" : i.field }));
    return { suggestions, issues: field, focus: focusField.endsWith(".condition") ? "condition" : "" };
  }, [definition, b.kinds, edge.target, own, focusField]);
  const any = takesAny(spec) ? [{ value: "", label: "Whichever is chosen" }] : [];
  const known = edge.handle === "" || handles.some((h) => h.id === edge.handle);
  const options = [
    ...any,
    ...handles.map((h) => ({ value: h.id, label: h.label || "Output" })),
    ...(known ? [] : [{ value: edge.handle, label: `${edge.handle} (missing)` }]),
  ];
  const fallback = takesAny(spec) ? "" : (handles[0]?.id ?? "");
  return (
    <FormContext.Provider value={facts}>
      <header className="pn-head">
        <div className="pn-name">
          <div className="pn-title">Connection</div>
          <div className="pn-kind pn-route">
            <button type="button" className="bt-link" onClick={() => b.select([edge.source])}>
              {source?.label || edge.source}
            </button>
            <ArrowRight size={13} aria-hidden="true" />
            <button type="button" className="bt-link" onClick={() => b.select([edge.target])}>
              {target?.label || edge.target}
            </button>
          </div>
        </div>
        <IconButton label="Delete the connection" onClick={() => b.deleteSelection()}>
          <Trash2 size={15} aria-hidden="true" />
        </IconButton>
      </header>
      <div className="pn-body">
        <IssueLines issues={own.filter((i) => !i.field.endsWith(".condition"))} />
        {options.length > 1 && (
          <Field label="Leaves by" htmlFor={id}>
            <Select
              id={id}
              value={edge.handle || fallback}
              options={options}
              onChange={(handle) => b.edit("Change output", (d) => updateEdge(d, edge.key, { handle }))}
            />
          </Field>
        )}
        <TemplateField
          key={edge.key}
          schema={conditionSchema}
          language="expression"
          lines={2}
          label="Condition"
          path="condition"
          value={edge.condition}
          onChange={(v) =>
            b.edit(
              "Change condition",
              (d) => updateEdge(d, edge.key, { condition: typeof v === "string" ? v : "" }),
              `condition:${edge.key}`,
            )
          }
        />
        <button
          type="button"
          className="bt"
          onClick={() =>
            b.ui.set({ adding: { at: null, parent: source?.parent ?? "", from: null, edge: edge.key } })
          }
        >
          Insert a step here
        </button>
      </div>
    </FormContext.Provider>
  );
}
