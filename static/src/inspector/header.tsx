/** The bar at the top: which run this is, how it stands, and what can be done with it. */

import {
  CircleQuestionMark,
  CloudOff,
  Pencil,
  Play,
  Radio,
  RefreshCw,
  RotateCcw,
  SquarePen,
  X,
} from "lucide-react";
import { useState } from "react";
import { liveClient } from "../live/browser";
import { isOver, type Run } from "../live/span";
import { newKey, startRun } from "./api";
import { useConnection, useFeed, useInspector, useNow, useRun } from "./context";
import { amount, cost, duration, exact, moment, plural, ticking } from "./model/format";
import { CopyButton, IconButton } from "./parts";
import { StatusBadge } from "./status";

/** What is true of the connection right now: whether what is shown is current. */
function ConnectionState() {
  const c = useConnection();
  const over = isOver(useRun().status);
  const { caughtUp } = useFeed();
  const now = useNow(1_000);
  switch (c.state) {
    case "live":
      return (
        <span className="cn" data-state={caughtUp ? "live" : "joining"} role="status">
          <Radio size={12} aria-hidden="true" />
          {caughtUp ? (over ? "Up to date" : "Live") : "Catching up…"}
        </span>
      );
    case "connecting":
      return (
        <span className="cn" data-state="joining" role="status">
          <RefreshCw size={12} aria-hidden="true" /> Connecting…
        </span>
      );
    case "offline":
      return (
        <span className="cn" data-state="offline" role="status" title={`Since ${moment(c.since)}`}>
          <CloudOff size={12} aria-hidden="true" /> Offline since {moment(c.since)}
        </span>
      );
    case "signed_out":
      return (
        <span className="cn" data-state="broken" role="status" title={`Since ${moment(c.since)}`}>
          <CloudOff size={12} aria-hidden="true" /> Signed out.{" "}
          <a className="in-link" href="/login">
            Sign in
          </a>
        </span>
      );
    case "reconnecting":
      return (
        <span className="cn" data-state="broken" role="status" title={`Not live since ${moment(c.since)}`}>
          <RefreshCw size={12} aria-hidden="true" /> Reconnecting…{" "}
          {Math.max(0, c.next - now) >= 1_500 && (
            <button type="button" className="in-link" onClick={() => liveClient().retryNow()}>
              now
            </button>
          )}
        </span>
      );
  }
}

function Duration({ run }: { run: Run }) {
  const now = useNow(100);
  if (Number.isNaN(run.start)) return "not begun";
  return isOver(run.status) ? duration(run.end - run.start) : ticking(now - run.start);
}

function Facts({ run }: { run: Run }) {
  const { input_tokens, output_tokens, cost_micros } = run.usage;
  const tokens = input_tokens + output_tokens;
  return (
    <div className="hd-facts">
      <span className="hd-duration" title={`Began ${exact(run.start)}`}>
        <Duration run={run} />
      </span>
      {run.started_by !== "" && (
        <span title={exact(run.created)}>
          by <span dir="auto">{run.started_by}</span>, {moment(run.created)}
        </span>
      )}
      {tokens > 0 && (
        <span title={`${amount(input_tokens)} tokens in, ${amount(output_tokens)} out`}>
          {plural(tokens, "token")}
          {cost_micros > 0 && ` · ${cost(cost_micros)}`}
        </span>
      )}
      {run.parent_run_id !== "" && (
        <a className="in-link" href={`/runs/${run.parent_run_id}`}>
          parent run
        </a>
      )}
      <span className="hd-id">
        <code title={run.id}>{run.id.length > 13 ? `…${run.id.slice(-12)}` : run.id}</code>
        <CopyButton text={() => run.id} label="Copy the run's id" small />
      </span>
    </div>
  );
}

/** Starts a run with the same input, without further questions. */
function RunAgain({ run }: { run: Run }) {
  const i = useInspector();
  const [busy, setBusy] = useState(false);
  const [key] = useState(newKey);
  const start = async () => {
    setBusy(true);
    try {
      const id = await startRun(run.workflow_id, run.input ?? {}, run.version === 0, key);
      location.assign(`/runs/${encodeURIComponent(id)}`);
    } catch (err) {
      i.say(err instanceof Error ? err.message : String(err), "danger");
      setBusy(false);
    }
  };
  return (
    <span className="hd-split">
      <button
        type="button"
        className="in-button"
        disabled={busy}
        title="Another run with the same input"
        onClick={() => void start()}
      >
        <Play size={13} aria-hidden="true" /> <span>Run again</span>
      </button>
      <button
        type="button"
        className="in-button"
        title="Run again with another input"
        aria-label="Run again with another input"
        onClick={() => i.ui.set({ dialog: { kind: "rerun", from: "" } })}
      >
        <Pencil size={13} aria-hidden="true" />
      </button>
    </span>
  );
}

function Actions({ run }: { run: Run }) {
  const i = useInspector();
  const over = isOver(run.status);
  return (
    <div className="hd-actions">
      <a
        className="in-button"
        href={`/workflows/${run.workflow_id}`}
        title="Open the workflow in the builder"
      >
        <SquarePen size={13} aria-hidden="true" /> <span>Builder</span>
      </a>
      <RunAgain run={run} />
      {over && run.status !== "succeeded" && (
        <button
          type="button"
          className="in-button"
          data-kind="primary"
          onClick={() => i.ui.set({ dialog: { kind: "retry" } })}
        >
          <RotateCcw size={13} aria-hidden="true" /> <span>Retry</span>
        </button>
      )}
      {!over && (
        <button
          type="button"
          className="in-button"
          data-kind="danger"
          onClick={() => i.ui.set({ dialog: { kind: "cancel" } })}
        >
          <X size={13} aria-hidden="true" /> <span>Cancel</span>
        </button>
      )}
      <IconButton label="Keyboard" keys="?" onClick={() => i.ui.set({ dialog: { kind: "help" } })}>
        <CircleQuestionMark size={15} aria-hidden="true" />
      </IconButton>
    </div>
  );
}

export function Header() {
  const i = useInspector();
  const run = useRun();
  const name = run.workflow_name || i.definition.name || "Untitled workflow";
  return (
    <header className="hd">
      <div className="hd-main">
        <div className="hd-name">
          <h1 dir="auto" title={name}>
            {name}
          </h1>
          <span className="hd-version">{run.version > 0 ? `v${run.version}` : "draft"}</span>
          <StatusBadge status={run.status} />
          <ConnectionState />
        </div>
        <Facts run={run} />
      </div>
      <Actions run={run} />
    </header>
  );
}
