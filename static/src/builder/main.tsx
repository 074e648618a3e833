/** Mounts the builder on <div id="builder" data-workflow-id="…">. */

import "@xyflow/react/dist/base.css";
import "./style/index.css";
import { createRoot, type Root } from "react-dom/client";
import { ApiError, loadKinds, loadWorkflow } from "./api";
import { App } from "./app";
import { Builder } from "./builder";

/** What went wrong while loading, with a way to try again. */
function Failure({ error, retry }: { error: unknown; retry: () => void }) {
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <div className="bld-failure" role="alert">
      <h2>{gone ? "There is no such workflow" : "The workflow can't be shown"}</h2>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      <div className="bld-row">
        {!gone && (
          <button type="button" className="bt bt--primary" onClick={retry}>
            Try again
          </button>
        )}
        <a className="bt" href="/workflows">
          All workflows
        </a>
      </div>
    </div>
  );
}

async function load(root: Root, id: string): Promise<void> {
  root.render(
    <div className="bld-loading" role="status">
      Loading…
    </div>,
  );
  try {
    const [kinds, workflow] = await Promise.all([loadKinds(), loadWorkflow(id)]);
    root.render(<App builder={new Builder(kinds, workflow)} />);
  } catch (error) {
    root.render(<Failure error={error} retry={() => void load(root, id)} />);
  }
}

let mounted: { host: HTMLElement; root: Root } | null = null;

/** Mounts on the page's host, once; leaves a host that is no longer on the page. */
function mount(): void {
  if (mounted !== null && !mounted.host.isConnected) {
    mounted.root.unmount();
    mounted = null;
  }
  const host = document.getElementById("builder");
  const id = host?.dataset.workflowId;
  if (host === null || id === undefined || mounted?.host === host) return;
  mounted = { host, root: createRoot(host) };
  void load(mounted.root, id);
}

mount();
// Pages that are swapped in bring their own host.
document.addEventListener("htmx:load", mount);
