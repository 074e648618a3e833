/** Who was asked, who decided, and how. */

import { ExternalLink } from "lucide-react";
import { useEffect, useState } from "react";
import { child, isObject, list, text } from "../../graph/json";
import type { SpanNode } from "../../live/tree";
import { type Approval, loadApprovals } from "../api";
import { useInspector, useNow } from "../context";
import { moment, relative } from "../model/format";
import { Empty } from "../parts";
import { lookOf } from "../status";
import { LongText } from "../value/text";
import { JsonView } from "../value/value";

/** Parks that a person answers. */
function askedOf(node: SpanNode) {
  const park = child(node.span.attributes, "park");
  return park !== undefined && (park.kind === "approval" || park.kind === "interrupt") ? park : undefined;
}

export function hasApproval(node: SpanNode): boolean {
  const decided = isObject(node.span.output) && isObject(node.span.output.decided_by);
  return node.span.node_type === "approval" || askedOf(node) !== undefined || decided;
}

/** The approval of a step: of several rounds the last. */
function useApproval(node: SpanNode): Approval | null {
  const i = useInspector();
  const [approval, setApproval] = useState<Approval | null>(null);
  const { address, status } = node.span;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a decision changes the step's status
  useEffect(() => {
    let gone = false;
    loadApprovals(i.feed.runId).then(
      (all) => {
        if (!gone) setApproval(all.findLast((a) => a.address === address) ?? null);
      },
      // What the span tells is shown all the same.
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [i, address, status]);
  return approval;
}

type Decision = { outcome: string; comment: string; by: string; at: number };

/** The decision as the step's output has it; it is there before the approval is asked for. */
function decisionOf(node: SpanNode, approval: Approval | null): Decision | null {
  if (approval?.decision) return approval.decision;
  const o = node.span.output;
  if (!isObject(o) || typeof o.outcome !== "string") return null;
  const by = child(o, "decided_by");
  const at = typeof o.decided_at === "string" ? Date.parse(o.decided_at) : node.span.end;
  return { outcome: o.outcome, comment: text(o, "comment"), by: text(by, "name") || text(by, "id"), at };
}

function DecisionView({ decision: d, approval }: { decision: Decision; approval: Approval | null }) {
  const outcome = approval?.outcomes.find((o) => o.id === d.outcome);
  const tone =
    outcome?.tone || (d.outcome === "approve" ? "success" : d.outcome === "reject" ? "danger" : "quiet");
  return (
    <section className="dt-part">
      <p className="ap-decision">
        <strong className="ap-outcome" data-tone={tone}>
          {outcome?.label ?? d.outcome}
        </strong>
        {d.by === "" ? " decided" : " by "}
        {d.by !== "" && <strong dir="auto">{d.by}</strong>}
        {!Number.isNaN(d.at) && <span className="dt-note"> {moment(d.at)}</span>}
      </p>
      {d.comment !== "" && <LongText text={d.comment} label="Comment" />}
    </section>
  );
}

function Pending({ node, approval }: { node: SpanNode; approval: Approval | null }) {
  const now = useNow(1_000);
  const asked = child(askedOf(node), "approval");
  const people = approval?.assignees ?? list(asked, "assignees").map(String);
  const department = approval?.department ?? text(asked, "department");
  const who = [department, ...people].filter((p) => p !== "").join(", ");
  return (
    <section className="dt-part">
      <p>
        Waiting {who === "" ? "for anyone who may approve" : "for "}
        {who !== "" && <strong dir="auto">{who}</strong>}
        {!Number.isNaN(node.span.start) && `, asked ${relative(node.span.start, now)}`}.
      </p>
      {approval !== null && !Number.isNaN(approval.due) && (
        <p className="dt-note">Due {relative(approval.due, now)}.</p>
      )}
      <a
        className="in-button"
        data-kind="primary"
        href={approval ? `/approvals/${approval.id}` : "/approvals"}
      >
        Open in the inbox <ExternalLink size={13} aria-hidden="true" />
      </a>
    </section>
  );
}

export function ApprovalView({ node }: { node: SpanNode }) {
  const approval = useApproval(node);
  const decision = decisionOf(node, approval);
  // What was asked stays in the step's input after it is answered.
  const input = isObject(node.span.input) ? node.span.input : undefined;
  const asked = child(askedOf(node), "approval") ?? input;
  const title = approval?.title || text(asked, "title");
  const body = text(asked, "body");
  const content = asked?.content;
  return (
    <>
      {title !== "" && (
        <p className="ap-title" dir="auto">
          {title}
        </p>
      )}
      {node.span.status === "parked" && <Pending node={node} approval={approval} />}
      {decision !== null && <DecisionView decision={decision} approval={approval} />}
      {decision === null && node.span.status !== "parked" && (
        <Empty>
          {approval?.closed_reason || `Nobody decided: ${lookOf(node.span.status).label.toLowerCase()}.`}
        </Empty>
      )}
      {approval?.decision?.data !== undefined && approval.decision.data !== null && (
        <JsonView value={approval.decision.data} label="What was sent along" />
      )}
      {body !== "" && (
        <section className="dt-part">
          <h3>What was asked</h3>
          <LongText text={body} label="What was asked" />
        </section>
      )}
      {content !== undefined && content !== null && <JsonView value={content} label="Under review" />}
    </>
  );
}
