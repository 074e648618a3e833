/** Everything about one step. */

import { Copy, Trash2 } from "lucide-react";
import { useEffect, useId, useMemo, useState } from "react";
import type { FlowNode, OnError, OnInterrupt, RetryPolicy } from "../../graph/definition";
import { nodeIds, setConfig, updateNode } from "../../graph/edit";
import { KindIcon } from "../../graph/icons";
import { whyNotId } from "../../graph/ids";
import { type Issue, issuesAt } from "../../graph/issue";
import { isObject, type JsonObject } from "../../graph/json";
import { propertiesOf } from "../../graph/schema";
import type { Spec } from "../../graph/spec";
import { whyNotMove } from "../../graph/tree";
import { suggestionsAt } from "../../graph/upstream";
import { useBuilder, useDocument, useIssuesByNode, useUi } from "../context";
import { FormContext } from "../form/context";
import { JsonInput, MillisInput } from "../form/fields";
import { ObjectFields } from "../form/form";
import { IconButton } from "../form/lists";
import { Field, IssueLines, Section, Select, Tabs, TextInput } from "../form/parts";
import { Connections } from "./connections";

export function NodePanel({ node }: { node: FlowNode }) {
  const b = useBuilder();
  const { definition } = useDocument();
  const { focusField } = useUi();
  const issues = useIssuesByNode()(node.id);
  const [tab, setTab] = useState<"form" | "json">("form");
  const spec = b.spec(node.type);
  const suggestions = useMemo(
    () => suggestionsAt(definition, b.kinds, node.id),
    [definition, b.kinds, node.id],
  );
  const facts = useMemo(
    () => ({ suggestions, issues, focus: focusField }),
    [suggestions, issues, focusField],
  );
  const known = new Set(propertiesOf(spec.config).map(([n]) => n));
  const unknown = Object.keys(node.config).filter((k) => !known.has(k));
  const configure = (config: JsonObject, key: string) =>
    b.edit("Configure", (d) => setConfig(d, b.kinds, node.id, config), `config:${node.id}:${key}`);
  return (
    <FormContext.Provider value={facts}>
      <NodeHead node={node} spec={spec} />
      <div className="pn-body">
        <GeneralIssues issues={issues} known={known} />
        <Tabs
          label="View of the settings"
          value={tab}
          onChange={setTab}
          options={[
            { value: "form", label: "Settings" },
            { value: "json", label: "JSON" },
          ]}
        />
        {tab === "form" ? (
          <>
            <ObjectFields
              schema={spec.config}
              value={node.config}
              path="config"
              onChange={(v) => configure(v, changedKey(node.config, v))}
            />
            {known.size === 0 && <p className="ff-hint">This step has nothing to set.</p>}
            {unknown.length > 0 && (
              <p className="ff-hint">
                Kept but not shown: <code>{unknown.join(", ")}</code>. See JSON.
              </p>
            )}
          </>
        ) : (
          <JsonInput
            value={node.config}
            label="Settings as JSON"
            lines={14}
            check={(v) => (isObject(v) ? null : "the settings are an object")}
            onChange={(v) => configure(isObject(v) ? v : {}, "json")}
          />
        )}
        <Connections node={node} spec={spec} />
        <Common node={node} spec={spec} />
      </div>
    </FormContext.Provider>
  );
}

/** The field that an edit changed, so that typing in one is one step of undo. */
function changedKey(before: JsonObject, after: JsonObject): string {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].find((k) => before[k] !== after[k]) ?? "";
}

/** Findings that no field shows. */
function GeneralIssues({ issues, known }: { issues: readonly Issue[]; known: Set<string> }) {
  const rest = issues.filter((i) => {
    const field = /^config\.([^.[]+)/.exec(i.field)?.[1];
    return field === undefined ? !/^(retry|timeout_ms|id$)/.test(i.field) : !known.has(field);
  });
  return rest.length === 0 ? null : (
    <div className="pn-issues">
      <IssueLines issues={rest} />
    </div>
  );
}

function NodeHead({ node, spec }: { node: FlowNode; spec: Spec }) {
  const b = useBuilder();
  return (
    <header className="pn-head" data-group={spec.group}>
      <span className="bn-icon">
        <KindIcon name={spec.icon} />
      </span>
      <div className="pn-name">
        <input
          className="pn-label"
          value={node.label}
          placeholder={node.id}
          aria-label="Label"
          data-field="label"
          onChange={(e) =>
            b.edit("Rename", (d) => updateNode(d, node.id, { label: e.target.value }), `label:${node.id}`)
          }
        />
        <div className="pn-kind">
          {spec.title} · <IdInput key={node.id} id={node.id} />
        </div>
      </div>
      <IconButton label="Duplicate" onClick={() => b.duplicate()}>
        <Copy size={15} aria-hidden="true" />
      </IconButton>
      <IconButton label="Delete" onClick={() => b.deleteSelection()}>
        <Trash2 size={15} aria-hidden="true" />
      </IconButton>
    </header>
  );
}

/** The id takes effect when it is valid and the field is left: references follow it. */
function IdInput({ id }: { id: string }) {
  const b = useBuilder();
  const [draft, setDraft] = useState(id);
  const taken = nodeIds(b.definition);
  taken.delete(id);
  const reason = draft === id ? null : whyNotId(draft, taken);
  const commit = () => {
    if (reason === null) b.rename(id, draft);
    else setDraft(id);
  };
  return (
    <span className="pn-id">
      <input
        value={draft}
        aria-label="Id"
        aria-invalid={reason !== null}
        size={Math.max(4, draft.length)}
        onChange={(e) => setDraft(e.target.value.trim())}
        onBlur={commit}
        onKeyDown={(e) => {
          if (e.key === "Enter") e.currentTarget.blur();
          if (e.key === "Escape") {
            e.stopPropagation();
            setDraft(id);
          }
        }}
      />
      {reason !== null && <span className="pn-id-error">{reason}</span>}
    </span>
  );
}

const onErrorOptions = [
  { value: "", label: "Stop (default)" },
  { value: "continue", label: "Continue with the error as output" },
  { value: "branch", label: "Leave by the “on error” output" },
];
const interruptOptions = [
  { value: "", label: "Try again (default)" },
  { value: "fail", label: "Fail the step" },
  { value: "ask", label: "Ask a person whether it happened" },
];

function Common({ node, spec }: { node: FlowNode; spec: Spec }) {
  const b = useBuilder();
  const { focusField } = useUi();
  const issues = useIssuesByNode()(node.id);
  const ids = { error: useId(), interrupt: useId(), notes: useId(), parent: useId(), timeout: useId() };
  const set = (fields: Partial<Omit<FlowNode, "id">>, key: string) =>
    b.edit("Configure", (d) => updateNode(d, node.id, fields), `${key}:${node.id}`);
  const works = spec.class !== "container" && spec.type !== "trigger" && spec.type !== "end";
  const used = [node.on_error, node.retry, node.timeout_ms, node.on_interrupt].filter(Boolean).length;
  const wanted = /^(retry|timeout_ms|on_error|on_interrupt)/.test(focusField);
  return (
    <>
      {spec.type !== "trigger" && (
        <Section
          title="When it fails"
          open={used > 0 || wanted}
          {...(used > 0 ? { note: `${used} set` } : {})}
        >
          <Field label="On error" htmlFor={ids.error}>
            <Select
              id={ids.error}
              value={node.on_error === "stop" ? "" : node.on_error}
              options={onErrorOptions}
              onChange={(v) => set({ on_error: v as OnError | "" }, "on_error")}
            />
          </Field>
          {works && (
            <>
              <RetryFields
                key={node.id}
                retry={node.retry}
                effect={spec.class === "effect"}
                onChange={(retry) => set({ retry }, "retry")}
              />
              <IssueLines issues={issuesAt(issues, "retry")} />
              <Field
                label="Timeout of one attempt"
                htmlFor={ids.timeout}
                issues={issuesAt(issues, "timeout_ms")}
              >
                <MillisInput
                  id={ids.timeout}
                  key={node.id}
                  label="Timeout"
                  value={node.timeout_ms || null}
                  placeholder={spec.group === "AI" ? "120 s" : "60 s"}
                  onChange={(ms) => set({ timeout_ms: ms ?? 0 }, "timeout")}
                />
              </Field>
            </>
          )}
          {spec.class === "effect" && (
            <Field
              label="If the server stops while it runs"
              htmlFor={ids.interrupt}
              hint="An effect that had started may have happened."
            >
              <Select
                id={ids.interrupt}
                value={node.on_interrupt === "retry" ? "" : node.on_interrupt}
                options={interruptOptions}
                onChange={(v) => set({ on_interrupt: v as OnInterrupt | "" }, "on_interrupt")}
              />
            </Field>
          )}
        </Section>
      )}
      <Section title="Notes and place" open={node.notes !== ""}>
        <Field label="Notes" htmlFor={ids.notes}>
          <textarea
            id={ids.notes}
            className="fi fi--area"
            rows={3}
            value={node.notes}
            placeholder="For people; it does nothing"
            onChange={(e) => set({ notes: e.target.value }, "notes")}
          />
        </Field>
        <ParentField node={node} id={ids.parent} />
      </Section>
    </>
  );
}

function RetryFields(p: {
  retry: RetryPolicy | null;
  effect: boolean;
  onChange: (r: RetryPolicy | null) => void;
}) {
  const attempts = useId();
  const fallback = p.effect ? 3 : 1;
  const set = (fields: Partial<RetryPolicy>) => p.onChange({ max_attempts: fallback, ...p.retry, ...fields });
  const setWait = (key: "base_ms" | "max_ms", ms: number | null) => {
    const next: RetryPolicy = { max_attempts: fallback, ...p.retry };
    delete next[key];
    p.onChange(ms === null ? next : { ...next, [key]: ms });
  };
  return (
    <>
      <Field label="Attempts" htmlFor={attempts}>
        <input
          id={attempts}
          className="fi"
          type="number"
          min="1"
          max="100"
          value={p.retry?.max_attempts ?? ""}
          placeholder={`${fallback} (default)`}
          onChange={(e) =>
            e.target.value === "" ? p.onChange(null) : set({ max_attempts: Number(e.target.value) })
          }
        />
      </Field>
      {(p.retry?.max_attempts ?? fallback) > 1 && (
        <div className="ff-pair">
          <Field label="First wait">
            <MillisInput
              label="First wait between attempts"
              value={p.retry?.base_ms ?? null}
              placeholder="2 s"
              onChange={(ms) => setWait("base_ms", ms)}
            />
          </Field>
          <Field label="Longest wait">
            <MillisInput
              label="Longest wait between attempts"
              value={p.retry?.max_ms ?? null}
              placeholder="30 s"
              onChange={(ms) => setWait("max_ms", ms)}
            />
          </Field>
        </div>
      )}
    </>
  );
}

/** Moving into and out of containers without a mouse. */
function ParentField({ node, id }: { node: FlowNode; id: string }) {
  const b = useBuilder();
  const { definition } = useDocument();
  const options = definition.nodes
    .filter((n) => b.spec(n.type).container !== "" && whyNotMove(definition, b.kinds, node.id, n.id) === null)
    .map((n) => ({ value: n.id, label: n.label || n.id }));
  const root = b.spec(node.type).container === "branch" ? [] : [{ value: "", label: "The workflow itself" }];
  if (options.length + root.length < 2) return null;
  return (
    <Field label="Inside of" htmlFor={id}>
      <Select
        id={id}
        value={node.parent}
        options={[...root, ...options]}
        onChange={(v) => b.moveInto(new Set([node.id]), v)}
      />
    </Field>
  );
}

export function TextField(p: {
  label: string;
  value: string;
  onChange: (v: string) => void;
  placeholder?: string;
}) {
  const id = useId();
  const [draft, setDraft] = useState(p.value);
  useEffect(() => setDraft(p.value), [p.value]);
  return (
    <Field label={p.label} htmlFor={id}>
      <TextInput
        id={id}
        value={draft}
        {...(p.placeholder ? { placeholder: p.placeholder } : {})}
        onChange={(v) => {
          setDraft(v);
          p.onChange(v);
        }}
      />
    </Field>
  );
}
