/** The builder's other dialogs. */

import { useState } from "react";
import { isObject, type JsonObject, parse } from "../../graph/json";
import { whyNotConnect } from "../../graph/rules";
import { handlesOf } from "../../graph/spec";
import { nodeById } from "../../graph/tree";
import { ApiError, type Conflict, loadWorkflow, publish } from "../api";
import { useBuilder, useDocument, useUi } from "../context";
import { Field, IssueLines, Select, TextInput } from "../form/parts";
import { gestures, mod, shortcuts } from "../keys";
import { Modal } from "./modal";
import { RunDialog } from "./run";

export function Dialogs() {
  const { dialog } = useUi();
  switch (dialog?.kind) {
    case "run":
      return <RunDialog />;
    case "publish":
      return <PublishDialog />;
    case "help":
      return <HelpDialog />;
    case "conflict":
      return <ConflictDialog conflict={dialog.conflict} />;
    case "import":
      return <ImportDialog text={dialog.text} name={dialog.name} />;
    case "connect":
      return <ConnectDialog source={dialog.source} />;
    default:
      return null;
  }
}

function useClose(): () => void {
  const b = useBuilder();
  return () => b.ui.set({ dialog: null });
}

export function ago(time: string): string {
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return "";
  if (seconds < 60) return "just now";
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (seconds < 3600) return format.format(-Math.round(seconds / 60), "minute");
  if (seconds < 86_400) return format.format(-Math.round(seconds / 3600), "hour");
  return format.format(-Math.round(seconds / 86_400), "day");
}

function PublishDialog() {
  const b = useBuilder();
  const close = useClose();
  const { meta, issues } = useUi();
  const [notes, setNotes] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const errors = issues.filter((i) => i.severity === "error");
  const submit = async () => {
    if (busy) return;
    setBusy(true);
    setFailure(null);
    try {
      if (b.store.state.dirty && !(await b.save())) return;
      const v = await publish(meta.id, b.ui.get().meta.revision, notes);
      const now = { published_version: v.version, published_at: v.published_at || new Date().toISOString() };
      b.ui.set({ meta: { ...b.ui.get().meta, ...now }, dialog: null });
      b.toast(`Published as version ${v.version}`, "success");
    } catch (err) {
      if (err instanceof ApiError && err.status !== 409) setFailure(err);
      else b.failed(err, "Not published");
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      title={`Publish version ${meta.published_version + 1}`}
      onClose={close}
      onSubmit={() => void submit()}
      footer={
        <>
          <button type="button" className="bt" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="bt bt--primary" disabled={busy || errors.length > 0}>
            {busy ? "Publishing…" : "Publish"}
          </button>
        </>
      }
    >
      <p className="dg-text">
        {meta.published_version > 0
          ? `Version ${meta.published_version} stays as it is, and runs that use it go on with it. New runs use the new version.`
          : "A version never changes. Runs started from outside use the latest one."}
      </p>
      {errors.length > 0 && (
        <p className="dg-alert" data-severity="error">
          Mend {errors.length === 1 ? "the error" : `the ${errors.length} errors`} first.{" "}
          <button
            type="button"
            className="bt-link"
            onClick={() => b.ui.set({ dialog: null, panel: "issues", sheet: true })}
          >
            Show
          </button>
        </p>
      )}
      {failure !== null && (
        <div className="dg-alert" data-severity="error" role="alert">
          {failure.issues.length === 0 ? failure.message : <IssueLines issues={failure.issues} />}
        </div>
      )}
      <Field label="What changed" hint="Shown in the list of versions.">
        <textarea
          className="fi fi--area"
          rows={3}
          value={notes}
          aria-label="What changed"
          onChange={(e) => setNotes(e.target.value)}
        />
      </Field>
    </Modal>
  );
}

function ConflictDialog({ conflict }: { conflict: Conflict }) {
  const b = useBuilder();
  const close = useClose();
  const { definition } = useDocument();
  const { meta } = useUi();
  const [name, setName] = useState(`${definition.name || "Workflow"} (my copy)`);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const attempt = (work: () => Promise<void>) => async () => {
    setBusy(true);
    setFailure("");
    try {
      await work();
    } catch (err) {
      setFailure(err instanceof Error ? err.message : String(err));
    } finally {
      setBusy(false);
    }
  };
  const reload = attempt(async () => {
    b.takeTheirs(await loadWorkflow(meta.id));
    b.toast("Their version is loaded. Undo brings yours back", "info", true);
  });
  const copy = attempt(async () => {
    const id = await b.saveCopy(name);
    location.assign(`/workflows/${encodeURIComponent(id)}`);
  });
  const who = conflict.updated_by || "Someone else";
  return (
    <Modal title="Saved by someone else meanwhile" onClose={close}>
      <p className="dg-text">
        <strong>{who}</strong> saved this workflow {ago(conflict.updated_at) || "after you opened it"}. Your
        changes are still here and nothing is lost.
      </p>
      {failure !== "" && (
        <p className="dg-alert" data-severity="error" role="alert">
          {failure}
        </p>
      )}
      <div className="dg-choice">
        <div>
          <h3>Save mine as a copy</h3>
          <TextInput value={name} onChange={setName} label="Name of the copy" />
        </div>
        <button
          type="button"
          className="bt bt--primary"
          disabled={busy || name === ""}
          onClick={() => void copy()}
        >
          Save a copy
        </button>
      </div>
      <div className="dg-choice">
        <div>
          <h3>Reload theirs</h3>
          <p>Shows what is saved now. Undo brings your version back.</p>
        </div>
        <button type="button" className="bt" disabled={busy} onClick={() => void reload()}>
          Reload theirs
        </button>
      </div>
      <div className="dg-choice">
        <div>
          <h3>Keep editing</h3>
          <p>Decide later. Saving asks again.</p>
        </div>
        <button type="button" className="bt" onClick={close}>
          Keep editing
        </button>
      </div>
    </Modal>
  );
}

function ImportDialog({ text, name }: { text: string; name: string }) {
  const b = useBuilder();
  const close = useClose();
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const read = (): JsonObject => {
    const v = parse(text);
    if (!isObject(v)) throw new Error("The file holds no workflow");
    return v;
  };
  const replace = async () => {
    setBusy(true);
    try {
      await b.importText(name, read());
    } catch (err) {
      setFailure(err instanceof Error ? err.message : String(err));
    } finally {
      setBusy(false);
    }
  };
  const insert = () => {
    if (b.paste(text, { x: 0, y: 0 })) close();
    else
      setFailure("Only files in Sluice's own form can be added to what is here. Replace the draft instead.");
  };
  return (
    <Modal
      title={`Import ${name || "a file"}`}
      onClose={close}
      onSubmit={() => void replace()}
      footer={
        <>
          <button type="button" className="bt" onClick={close}>
            Cancel
          </button>
          <button type="button" className="bt" disabled={busy} onClick={insert}>
            Add to what is here
          </button>
          <button type="submit" className="bt bt--primary" disabled={busy}>
            Replace the draft
          </button>
        </>
      }
    >
      <p className="dg-text">
        The file can replace the draft, or its steps can be added to it. Nothing is stored before you save,
        and undo takes it back.
      </p>
      {failure !== "" && (
        <p className="dg-alert" data-severity="error" role="alert">
          {failure}
        </p>
      )}
    </Modal>
  );
}

function ConnectDialog({ source }: { source: string }) {
  const b = useBuilder();
  const close = useClose();
  const { definition } = useDocument();
  const node = nodeById(definition, source);
  const handles = node ? handlesOf(b.spec(node.type), node) : [];
  const [handle, setHandle] = useState(handles[0]?.id ?? "");
  const targets = definition.nodes.filter(
    (n) => whyNotConnect(definition, b.kinds, { source, target: n.id, handle }) === null,
  );
  const [target, setTarget] = useState("");
  const chosen = targets.some((t) => t.id === target) ? target : (targets[0]?.id ?? "");
  return (
    <Modal
      title={`Connect ${node?.label || source}`}
      onClose={close}
      onSubmit={() => {
        if (chosen === "") return;
        b.connect({ source, target: chosen, handle });
        close();
      }}
      footer={
        <>
          <button type="button" className="bt" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="bt bt--primary" disabled={chosen === ""}>
            Connect
          </button>
        </>
      }
    >
      {handles.length > 1 && (
        <Field label="Output">
          <Select
            label="Output"
            value={handle}
            options={handles.map((h) => ({ value: h.id, label: h.label || h.id }))}
            onChange={setHandle}
          />
        </Field>
      )}
      <Field label="Leads to">
        <Select
          label="Leads to"
          value={chosen}
          options={targets.map((t) => ({ value: t.id, label: t.label || t.id }))}
          onChange={setTarget}
        />
      </Field>
      {targets.length === 0 && <p className="ff-hint">There is no step here that could follow.</p>}
    </Modal>
  );
}

function Keys({ keys }: { keys: string }) {
  return keys
    .split(", ")
    .map((combination) => (
      <kbd key={combination}>{combination.replace("mod ", mod).replace("Shift Z", "⇧Z")}</kbd>
    ));
}

function HelpDialog() {
  const close = useClose();
  const groups = ["Document", "Edit", "Canvas"] as const;
  return (
    <Modal title="Keyboard" onClose={close} variant="wide">
      <div className="hp">
        {groups.map((g) => (
          <section key={g}>
            <h3>{g}</h3>
            {shortcuts
              .filter((s) => s.group === g)
              .map((s) => (
                <div className="hp-row" key={s.keys}>
                  <span>{s.what}</span>
                  <span>
                    <Keys keys={s.keys} />
                  </span>
                </div>
              ))}
          </section>
        ))}
        <section>
          <h3>Mouse and more</h3>
          {gestures.map((g) => (
            <div className="hp-row" key={g.keys}>
              <span>{g.what}</span>
              <span>
                <Keys keys={g.keys} />
              </span>
            </div>
          ))}
        </section>
      </div>
    </Modal>
  );
}
