/** The workflow's own settings, and all findings. */

import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { useId, useMemo } from "react";
import type { Definition } from "../../graph/definition";
import { edgeIndex, type Issue } from "../../graph/issue";
import { isObject } from "../../graph/json";
import { nodeById } from "../../graph/tree";
import { plural } from "../builder";
import { useBuilder, useDocument, useUi } from "../context";
import { FormContext } from "../form/context";
import { KeyValueField } from "../form/keyvalue";
import { Field, Tabs } from "../form/parts";
import { SchemaEditor } from "../form/schema";
import { TextField } from "./node";

const variablesSchema = {
  type: "object",
  additionalProperties: true,
  description: "Values that every step can read, and a “Set” step can change.",
};

export function WorkflowPanel() {
  const b = useBuilder();
  const { panel, issues } = useUi();
  const errors = issues.filter((i) => i.severity === "error").length;
  return (
    <>
      <div className="pn-tabs">
        <Tabs
          label="Workflow"
          value={panel}
          onChange={(v) => b.ui.set({ panel: v })}
          options={[
            { value: "settings", label: "Workflow" },
            {
              value: "issues",
              label: "Issues",
              note: issues.length > 0 && (
                <span className="tabs-count" data-severity={errors > 0 ? "error" : "warning"}>
                  {issues.length}
                </span>
              ),
            },
          ]}
        />
      </div>
      {panel === "issues" ? <IssueList /> : <Settings />}
    </>
  );
}

function Settings() {
  const b = useBuilder();
  const { definition } = useDocument();
  const { issues } = useUi();
  const description = useId();
  const facts = useMemo(
    () => ({ suggestions: [], issues: issues.filter((i) => i.node_id === ""), focus: "" }),
    [issues],
  );
  const set = (fields: Partial<Definition>, key: string) =>
    b.edit("Change the workflow", (d) => ({ ...d, ...fields }), `workflow:${key}`);
  return (
    <FormContext.Provider value={facts}>
      <div className="pn-body">
        <TextField label="Name" value={definition.name} onChange={(name) => set({ name }, "name")} />
        <Field label="Description" htmlFor={description}>
          <textarea
            id={description}
            className="fi fi--area"
            rows={3}
            value={definition.description}
            onChange={(e) => set({ description: e.target.value }, "description")}
          />
        </Field>
        <Field label="Input" hint="What a run is started with. Its form and its checks come from here.">
          <SchemaEditor
            value={definition.input_schema ?? undefined}
            onChange={(v) => set({ input_schema: v ?? null }, "input")}
            label="Input"
          />
        </Field>
        <KeyValueField
          schema={variablesSchema}
          label="Variables"
          path="variables"
          value={definition.variables ?? undefined}
          onChange={(v) => set({ variables: isObject(v) ? v : null }, "variables")}
        />
      </div>
    </FormContext.Provider>
  );
}

function placeOf(d: Definition, issue: Issue): string {
  const node = nodeById(d, issue.node_id);
  if (node) return node.label || node.id;
  const edge = d.edges[edgeIndex(issue)];
  if (edge)
    return `${nodeById(d, edge.source)?.label || edge.source} → ${nodeById(d, edge.target)?.label || edge.target}`;
  return issue.node_id || "Workflow";
}

export function IssueList() {
  const b = useBuilder();
  const { definition } = useDocument();
  const { issues, offline } = useUi();
  const sorted = [...issues].sort(
    (x, y) => Number(x.severity === "warning") - Number(y.severity === "warning"),
  );
  const errors = issues.filter((i) => i.severity === "error").length;
  if (issues.length === 0) {
    return (
      <div className="pn-none">
        <CircleCheck size={20} aria-hidden="true" />
        {offline === "" ? "No issues. It can run." : `Not checked: ${offline}`}
      </div>
    );
  }
  return (
    <div className="pn-body">
      <p className="ff-hint" aria-live="polite">
        {errors > 0
          ? `${plural(errors, "error")} to mend before it can run. Warnings don't keep it from running.`
          : "Warnings don't keep it from running."}
      </p>
      <ul className="il">
        {sorted.map((i) => (
          <li key={`${i.code}${i.node_id}${i.field}${i.message}`}>
            <button type="button" className="il-row" data-severity={i.severity} onClick={() => b.goTo(i)}>
              {i.severity === "error" ? (
                <CircleAlert size={15} aria-label="Error" />
              ) : (
                <TriangleAlert size={15} aria-label="Warning" />
              )}
              <span className="il-text">
                <span className="il-place">
                  {placeOf(definition, i)}
                  {i.field !== "" && <code>{i.field.replace(/^config\./, "")}</code>}
                </span>
                <span>{i.message}</span>
                {i.fix !== "" && <span className="il-fix">{i.fix}</span>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
