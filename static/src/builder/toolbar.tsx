/** The bar above the canvas: what this is, whether it is saved, and what can be done with it. */

import {
  CircleAlert,
  CircleCheck,
  CircleQuestionMark,
  Download,
  Maximize,
  Minus,
  Play,
  Plus,
  Redo2,
  Rocket,
  Save,
  TriangleAlert,
  Undo2,
  Workflow,
} from "lucide-react";
import type { ReactNode } from "react";
import { worst } from "../graph/issue";
import { plural } from "./builder";
import { useBuilder, useDocument, useUi } from "./context";
import { ago } from "./dialog/dialogs";
import { mod } from "./keys";
import type { Meta } from "./state";

function Tool(p: {
  label: string;
  keys?: string;
  onClick: () => void;
  disabled?: boolean;
  children: ReactNode;
}) {
  const title = p.keys ? `${p.label} (${p.keys})` : p.label;
  return (
    <button
      type="button"
      className="tb-tool"
      title={title}
      aria-label={p.label}
      disabled={p.disabled}
      onClick={p.onClick}
    >
      {p.children}
    </button>
  );
}

/** What is published, and whether the draft has moved on since. */
function publishedState(meta: Meta, dirty: boolean): { text: string; ahead: boolean; title: string } {
  if (meta.published_version === 0)
    return { text: "Not published", ahead: false, title: "Runs use the draft" };
  const later = Date.parse(meta.updated_at) - Date.parse(meta.published_at) > 1_000;
  const ahead = dirty || later;
  return {
    text: `v${meta.published_version}${ahead ? " · draft ahead" : ""}`,
    ahead,
    title: `Version ${meta.published_version}, published ${ago(meta.published_at)}${ahead ? "; the draft has changes that are not published" : ""}`,
  };
}

function IssuesButton() {
  const b = useBuilder();
  const { issues, validating, offline } = useUi();
  const severity = worst(issues);
  const Icon = severity === "error" ? CircleAlert : severity === "warning" ? TriangleAlert : CircleCheck;
  const errors = issues.filter((i) => i.severity === "error").length;
  const text =
    errors > 0 ? plural(errors, "error") : issues.length > 0 ? plural(issues.length, "warning") : "No issues";
  return (
    <button
      type="button"
      className="tb-issues"
      data-severity={severity ?? "none"}
      data-busy={validating}
      title={offline === "" ? `${text} (I)` : `Not checked: ${offline}`}
      onClick={() => {
        b.select([]);
        b.ui.set({ panel: "issues", sheet: true });
      }}
    >
      <Icon size={15} aria-hidden="true" />
      <span aria-live="polite">{offline === "" ? text : "Not checked"}</span>
    </button>
  );
}

export function Toolbar() {
  const b = useBuilder();
  const { definition, canUndo, canRedo, dirty } = useDocument();
  const { meta, saving } = useUi();
  const published = publishedState(meta, dirty);
  return (
    <header className="bld-bar">
      <div className="tb-name">
        <input
          value={definition.name}
          placeholder="Untitled workflow"
          aria-label="Name of the workflow"
          onChange={(e) => b.edit("Rename", (d) => ({ ...d, name: e.target.value }), "workflow:name")}
        />
        <span className="tb-state" data-dirty={dirty} role="status">
          {saving ? "Saving…" : dirty ? "Unsaved" : "Saved"}
        </span>
        <span className="tb-badge" data-ahead={published.ahead} title={published.title}>
          {published.text}
        </span>
      </div>
      <div className="tb-tools">
        <Tool label="Add a step" keys="/" onClick={() => b.ui.set({ adding: b.addTarget() })}>
          <Plus size={16} aria-hidden="true" />
        </Tool>
        <Tool label="Undo" keys={`${mod}Z`} disabled={!canUndo} onClick={() => b.undo()}>
          <Undo2 size={16} aria-hidden="true" />
        </Tool>
        <Tool label="Redo" keys={`${mod}⇧Z`} disabled={!canRedo} onClick={() => b.redo()}>
          <Redo2 size={16} aria-hidden="true" />
        </Tool>
        <Tool label="Arrange" keys="L" onClick={() => b.layout()}>
          <Workflow size={16} aria-hidden="true" />
        </Tool>
        <Tool label="Download as a file" onClick={() => download(b.exportText(), definition.name)}>
          <Download size={16} aria-hidden="true" />
        </Tool>
        <Tool label="Keyboard" keys="?" onClick={() => b.ui.set({ dialog: { kind: "help" } })}>
          <CircleQuestionMark size={16} aria-hidden="true" />
        </Tool>
      </div>
      <div className="tb-actions">
        <IssuesButton />
        <button
          type="button"
          className="bt"
          disabled={saving || !dirty}
          title={`Save (${mod}S)`}
          onClick={() => void b.save()}
        >
          <Save size={14} aria-hidden="true" /> <span>Save</span>
        </button>
        <button type="button" className="bt" onClick={() => b.ui.set({ dialog: { kind: "publish" } })}>
          <Rocket size={14} aria-hidden="true" /> <span>Publish</span>
        </button>
        <button
          type="button"
          className="bt bt--primary"
          title={`Run (${mod}Enter)`}
          onClick={() => b.ui.set({ dialog: { kind: "run" } })}
        >
          <Play size={14} aria-hidden="true" /> <span>Run</span>
        </button>
      </div>
    </header>
  );
}

/** Zoom, in the corner of the canvas. */
export function ZoomBar() {
  const b = useBuilder();
  return (
    <div className="bld-zoom" role="toolbar" aria-label="Zoom">
      <Tool label="Zoom out" keys="−" onClick={() => b.view?.zoom(0.8)}>
        <Minus size={15} aria-hidden="true" />
      </Tool>
      <Tool label="Zoom in" keys="+" onClick={() => b.view?.zoom(1.25)}>
        <Plus size={15} aria-hidden="true" />
      </Tool>
      <Tool label="Show everything" keys="F" onClick={() => b.view?.fit()}>
        <Maximize size={15} aria-hidden="true" />
      </Tool>
    </div>
  );
}

function download(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${(name || "workflow").replace(/[^\p{L}\p{N}_-]+/gu, "-").toLowerCase()}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
