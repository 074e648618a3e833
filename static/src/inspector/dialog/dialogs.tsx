/** The dialogs of the inspector. */

import { type ReactNode, useState } from "react";
import type { Run } from "../../live/span";
import { cancelRun, retryRun } from "../api";
import { useInspector, useUi } from "../context";
import { shortcuts } from "../keys";
import { Modal } from "./modal";
import { RerunDialog } from "./rerun";

type ConfirmProps = {
  title: string;
  action: string;
  back: string;
  kind: "primary" | "danger";
  run: (id: string) => Promise<Run>;
  children: ReactNode;
};

/** Asks before something that can't be taken back is done. */
function Confirm(p: ConfirmProps) {
  const i = useInspector();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const close = () => i.ui.set({ dialog: null });
  const go = async () => {
    setBusy(true);
    setFailure("");
    try {
      i.feed.load(await p.run(i.feed.runId));
      close();
    } catch (err) {
      setFailure(err instanceof Error ? err.message : String(err));
      setBusy(false);
    }
  };
  return (
    <Modal
      title={p.title}
      onClose={close}
      onSubmit={() => void go()}
      footer={
        <>
          <button type="button" className="in-button" data-first={p.kind === "danger"} onClick={close}>
            {p.back}
          </button>
          <button
            type="submit"
            className="in-button"
            data-kind={p.kind}
            data-first={p.kind === "primary"}
            disabled={busy}
          >
            {p.action}
          </button>
        </>
      }
    >
      {p.children}
      {failure !== "" && (
        <p className="dg-alert" role="alert">
          {failure}
        </p>
      )}
    </Modal>
  );
}

function HelpDialog() {
  const i = useInspector();
  return (
    <Modal title="Keyboard" onClose={() => i.ui.set({ dialog: null })}>
      <dl className="in-pairs">
        {shortcuts.map((s) => (
          <div key={s.what}>
            <dt>{s.what}</dt>
            <dd>
              {s.keys.map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}

export function Dialogs() {
  const { dialog } = useUi();
  switch (dialog?.kind) {
    case "cancel":
      return (
        <Confirm
          title="Cancel the run?"
          action="Cancel the run"
          back="Let it run"
          kind="danger"
          run={cancelRun}
        >
          <p>
            What is running is stopped, and what is waiting for an answer is closed. What is done stays done.
          </p>
        </Confirm>
      );
    case "retry":
      return (
        <Confirm title="Retry the run?" action="Retry" back="Not now" kind="primary" run={retryRun}>
          <p>
            The steps that failed run again, on the same version of the workflow. The outputs of those that
            succeeded are kept.
          </p>
        </Confirm>
      );
    case "rerun":
      return <RerunDialog from={dialog.from} />;
    case "help":
      return <HelpDialog />;
    default:
      return null;
  }
}
