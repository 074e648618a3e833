/** Mounts the inspector on <div id="inspector" data-run-id="…">. */

import "@xyflow/react/dist/base.css";
import "./style/index.css";
import { createRoot, type Root } from "react-dom/client";
import { DecodeError } from "../graph/definition";
import { ApiError, loadDefinition, loadKinds, loadRun } from "./api";
import { App } from "./app";
import { Inspector } from "./inspector";

function Failure({ error, retry }: { error: unknown; retry: () => void }) {
  const status = error instanceof ApiError ? error.status : -1;
  const gone = status === 404;
  const title = gone
    ? "There is no such run"
    : status === 401
      ? "You are signed out"
      : "The run can't be shown";
  const message = gone
    ? "It may have been deleted, or it belongs to another account."
    : error instanceof Error
      ? error.message
      : String(error);
  return (
    <div className="in-state" role="alert">
      <h2>{title}</h2>
      <p>{message}</p>
      <div className="in-state-actions">
        {!gone && status !== 401 && (
          <button type="button" className="in-button" data-kind="primary" onClick={retry}>
            Try again
          </button>
        )}
        {status === 401 && (
          <a className="in-button" data-kind="primary" href="/login">
            Sign in
          </a>
        )}
        <a className="in-button" href="/runs">
          All runs
        </a>
      </div>
    </div>
  );
}

/** The outline of what is about to be there. */
function Loading() {
  return (
    <div className="in-loading" role="status" aria-label="Loading the run">
      <div />
      <div />
      <div />
    </div>
  );
}

async function load(root: Root, id: string): Promise<void> {
  root.render(<Loading />);
  try {
    const [run, definition, kinds] = await Promise.all([loadRun(id), loadDefinition(id), loadKinds()]);
    root.render(<App inspector={new Inspector(run, definition, kinds)} />);
  } catch (error) {
    const shown =
      error instanceof DecodeError ? new Error(`Its workflow can't be read: ${error.message}.`) : error;
    root.render(<Failure error={shown} retry={() => void load(root, id)} />);
  }
}

let mounted: { host: HTMLElement; root: Root } | null = null;

/** Mounts on the page's host, once; leaves a host that is no longer on the page. */
function mount(): void {
  if (mounted !== null && !mounted.host.isConnected) {
    mounted.root.unmount();
    mounted = null;
  }
  const host = document.getElementById("inspector");
  const id = host?.dataset.runId;
  if (host === null || id === undefined || mounted?.host === host) return;
  mounted = { host, root: createRoot(host) };
  void load(mounted.root, id);
}

mount();
// Pages that are swapped in bring their own host.
document.addEventListener("htmx:load", mount);
