/** The execution log: every step that was reached, in order. */

import { useEffect, useState } from "react";
import { stringify } from "../../graph/json";
import { isOver } from "../../live/span";
import { type LogLine, loadLog } from "../api";
import { useInspector, useRun } from "../context";
import { isSettled } from "../model/bar";
import { amount, duration } from "../model/format";
import { Empty } from "../parts";
import { lookOf, StatusIcon } from "../status";

/** While the run goes on the log is asked for this often, at most. */
const everyMS = 2_000;
const firstLines = 200;

type LogState = { lines: LogLine[] | null; more: boolean; error: string };

/** The log's lines that are wanted to be seen, and often some more. */
function useLog(wanted: number): LogState {
  const i = useInspector();
  const { status } = useRun();
  const [state, setState] = useState<LogState>({ lines: null, more: false, error: "" });
  useEffect(() => {
    let timer = 0;
    let gone = false;
    const load = async () => {
      try {
        const next = await loadLog(i.feed.runId, wanted);
        if (gone) return;
        setState({ ...next, error: "" });
      } catch (err) {
        const error = err instanceof Error ? err.message : String(err);
        if (!gone) setState((s) => ({ ...s, error }));
      }
      if (!gone && !isOver(status)) timer = window.setTimeout(() => void load(), everyMS);
    };
    void load();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [i, status, wanted]);
  return state;
}

function resultOf(l: LogLine): string {
  if (l.error !== null) return `${l.error.code}: ${l.error.message}`;
  if (l.result === undefined) return "";
  return typeof l.result === "string" ? l.result : stringify(l.result);
}

function LogRow({ line: l }: { line: LogLine }) {
  const i = useInspector();
  const id = l.round > 0 ? `${l.address}#${l.round}` : l.address;
  return (
    <tr>
      <td>
        <span className="lg-step">
          <StatusIcon status={l.status} />
          <span className="in-sr">{lookOf(l.status).label}</span>
          <button type="button" className="in-link" dir="auto" title={l.address} onClick={() => i.select(id)}>
            {l.address}
          </button>
        </span>
      </td>
      <td className="lg-number">
        {isSettled(l.status) && l.status !== "skipped" && duration(l.duration_ms)}
      </td>
      <td className="lg-number">{l.attempts > 1 ? l.attempts : ""}</td>
      <td className="lg-result" dir="auto" data-danger={l.error !== null}>
        {resultOf(l).slice(0, 160)}
      </td>
    </tr>
  );
}

export function Log() {
  const [shown, setShown] = useState(firstLines);
  const { lines, more, error } = useLog(shown);
  if (error !== "" && lines === null) return <Empty>The log can't be loaded: {error}</Empty>;
  if (lines === null) return <Empty>Loading…</Empty>;
  if (lines.length === 0) return <Empty>No step was reached yet.</Empty>;
  return (
    <>
      <table className="lg">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Took</th>
            <th scope="col">Tries</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, shown).map((l) => (
            <LogRow key={`${l.address}#${l.round}`} line={l} />
          ))}
        </tbody>
      </table>
      {(more || lines.length > shown) && (
        <button type="button" className="in-link" onClick={() => setShown(shown + 1_000)}>
          Show more {!more && `(${amount(lines.length - shown)} steps)`}
        </button>
      )}
    </>
  );
}
