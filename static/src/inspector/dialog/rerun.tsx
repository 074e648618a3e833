/** Another run of the workflow, with the same input or an edited one. */

import { Play } from "lucide-react";
import { useState } from "react";
import type { Issue } from "../../graph/issue";
import { equal, isObject, type Json, type JsonObject } from "../../graph/json";
import { mismatches, propertiesOf } from "../../graph/schema";
import { ApiError, forkRun, newKey, startRun } from "../api";
import { useInspector, useRun } from "../context";
import { Tabs } from "../parts";
import { InputForm, JsonField } from "./fields";
import { Modal } from "./modal";

type Mode = "form" | "json";
type Problem = { path: string; message: string };

/** The server names fields "input.topic"; the form has "topic". */
function problemsOf(issues: readonly Issue[]): Problem[] {
  return issues.map((x) => ({ path: x.field.replace(/^(body\.)?input\.?/, ""), message: x.message }));
}

function useRerun(from: string) {
  const i = useInspector();
  const run = useRun();
  const schema: JsonObject = isObject(i.definition.input_schema) ? i.definition.input_schema : {};
  const [input, setInput] = useState<Json | undefined>(run.input ?? {});
  const [problems, setProblems] = useState<Problem[]>([]);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  // Sent again only when it is unknown whether the last attempt reached the server.
  const [key, setKey] = useState(newKey);
  const start = async () => {
    if (input === undefined || busy) return;
    const found = mismatches(schema, input);
    setProblems(found);
    setFailure("");
    if (found.length > 0) return;
    setBusy(true);
    try {
      const edited = equal(input, run.input) ? undefined : input;
      const id =
        from === ""
          ? await startRun(run.workflow_id, input, run.version === 0, key)
          : await forkRun(run.id, from, edited);
      location.assign(`/runs/${encodeURIComponent(id)}`);
    } catch (err) {
      if (err instanceof ApiError && err.status !== 0) setKey(newKey());
      if (err instanceof ApiError && err.issues.length > 0) setProblems(problemsOf(err.issues));
      else setFailure(err instanceof Error ? err.message : String(err));
      setBusy(false);
    }
  };
  return { schema, input, setInput, problems, failure, busy, start };
}

function note(from: string, version: number): string {
  if (from !== "") return "On the version that ran. What was done before the step is kept.";
  return version === 0 ? "Runs the draft as it is saved now." : "Runs the version that is published now.";
}

export function RerunDialog({ from }: { from: string }) {
  const i = useInspector();
  const run = useRun();
  const r = useRerun(from);
  const drawn = propertiesOf(r.schema).length > 0;
  const [mode, setMode] = useState<Mode>(drawn ? "form" : "json");
  const close = () => i.ui.set({ dialog: null });
  const elsewhere = r.problems.filter(
    (p) => mode === "json" || !propertiesOf(r.schema).some(([name]) => p.path.split(/[.[]/)[0] === name),
  );
  return (
    <Modal
      title={from === "" ? "Run again" : "Run again from here"}
      onClose={close}
      onSubmit={() => void r.start()}
      wide
      footer={
        <>
          <span className="dg-note">{note(from, run.version)}</span>
          <button type="button" className="in-button" onClick={close}>
            Close
          </button>
          <button
            type="submit"
            className="in-button"
            data-kind="primary"
            data-first
            disabled={r.busy || r.input === undefined}
          >
            <Play size={13} aria-hidden="true" /> {r.busy ? "Starting…" : "Run"}
          </button>
        </>
      }
    >
      {from !== "" && (
        <p>
          Starts at <code>{from}</code>.
        </p>
      )}
      {r.failure !== "" && (
        <p className="dg-alert" role="alert">
          {r.failure}
        </p>
      )}
      {elsewhere.map((p) => (
        <p key={p.path + p.message} className="dg-alert" role="alert">
          {p.path !== "" && <code>{p.path}</code>} {p.message}
        </p>
      ))}
      {drawn && (
        <Tabs<Mode>
          id="rr"
          label="Input as"
          value={mode}
          onChange={setMode}
          options={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
          ]}
        />
      )}
      <div id="rr-panel">
        {mode === "form" ? (
          <InputForm
            schema={r.schema}
            value={isObject(r.input) ? r.input : {}}
            problems={r.problems}
            onChange={r.setInput}
          />
        ) : (
          <JsonField label="Input" value={r.input ?? {}} rows={14} onChange={r.setInput} />
        )}
      </div>
    </Modal>
  );
}
