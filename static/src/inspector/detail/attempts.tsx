/** The attempts of a step, and when the next one is due. */

import type { SpanNode } from "../../live/tree";
import { useNow } from "../context";
import { nextAttemptAt } from "../model/bar";
import { duration, moment, relative, ticking } from "../model/format";
import { lookOf, StatusIcon } from "../status";
import { Value } from "../value/value";

export function Attempts({ node }: { node: SpanNode }) {
  const now = useNow(1_000);
  const due = nextAttemptAt(node);
  return (
    <ol className="at">
      {node.attempts.map((a, n) => {
        const before = node.attempts[n - 1];
        const open = Number.isNaN(a.end);
        const waited = before === undefined ? Number.NaN : a.start - before.end;
        return (
          <li key={a.id} className="at-item">
            {waited > 0 && <p className="at-gap">waited {duration(waited)}</p>}
            <div className="at-head">
              <StatusIcon status={a.status} />
              <strong>Attempt {a.attempt}</strong>
              <span className="dt-note">{lookOf(a.status).label}</span>
              <span className="at-time" title={moment(a.start)}>
                {open ? ticking(now - a.start) : duration(a.end - a.start)}
              </span>
            </div>
            {a.error !== null && (
              <p className="at-error" dir="auto">
                <code>{a.error.code}</code> {a.error.message}
              </p>
            )}
            {a.output !== undefined && <Value value={a.output} label={`Output of attempt ${a.attempt}`} />}
          </li>
        );
      })}
      {!Number.isNaN(due) && (
        <li className="at-item">
          <div className="at-head">
            <StatusIcon status="retrying" />
            <strong>Attempt {(node.attempts.at(-1)?.attempt ?? 0) + 1}</strong>
            <span className="dt-note">due {due > now ? relative(due, now) : "now"}</span>
            <span className="at-time">{moment(due)}</span>
          </div>
        </li>
      )}
    </ol>
  );
}
