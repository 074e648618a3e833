/** A step, an iteration or an attempt in detail. */

import { CornerDownRight, GitFork } from "lucide-react";
import type { ReactNode } from "react";
import { KindIcon } from "../../graph/icons";
import { isObject, type Json } from "../../graph/json";
import { specOf } from "../../graph/spec";
import type { Span } from "../../live/span";
import { iterationIndex, type SpanNode } from "../../live/tree";
import { useFeed, useInspector, useUi } from "../context";
import { shownStatus } from "../model/activity";
import { isSettled } from "../model/bar";
import { amount, cost, duration } from "../model/format";
import { CopyButton, Empty, type Tab, TabPanel, Tabs } from "../parts";
import { lookOf, StatusBadge } from "../status";
import { LongText } from "../value/text";
import { JsonView, Value } from "../value/value";
import { ApprovalView, hasApproval } from "./approval";
import { Attempts } from "./attempts";
import { ErrorView } from "./error";
import { Timing } from "./timing";
import { hasTrace, TraceView } from "./trace";

type TabId = "error" | "approval" | "output" | "input" | "trace" | "attempts" | "timing" | "json";

function tabsOf(node: SpanNode): Tab<TabId>[] {
  const { span, attempts } = node;
  const tabs: (Tab<TabId> | false)[] = [
    span.error !== null && { value: "error", label: "Error" },
    hasApproval(node) && { value: "approval", label: "Approval" },
    { value: "output", label: "Output" },
    span.kind === "step" && { value: "input", label: "Input" },
    hasTrace(node) && { value: "trace", label: span.node_type === "http_request" ? "Request" : "Prompt" },
    attempts.length > 0 && {
      value: "attempts",
      label: "Attempts",
      note: attempts.length > 1 && <span className="in-count">{attempts.length}</span>,
    },
    { value: "timing", label: "Timing" },
    { value: "json", label: "JSON" },
  ];
  return tabs.filter((t) => t !== false);
}

/** What was looked at last, where the span has it; otherwise what matters most. */
function currentTab(tabs: readonly Tab<TabId>[], wanted: string, span: Span): TabId {
  const first = tabs[0]?.value ?? "output";
  if (span.error !== null && wanted !== "json" && wanted !== "timing") {
    return tabs.find((t) => t.value === wanted && wanted !== "output")?.value ?? "error";
  }
  return tabs.find((t) => t.value === wanted)?.value ?? first;
}

/** The text of an output whose kind says where it is. */
function mainText(output: Json, key: string): string {
  const v = isObject(output) && key !== "" ? output[key] : undefined;
  return typeof v === "string" ? v : "";
}

/** What a model has written so far. */
function Streaming({ node }: { node: SpanNode }) {
  const i = useInspector();
  useFeed();
  const last = node.attempts.at(-1);
  const written = last && i.feed.text(last.id);
  if (written === undefined) return <Empty>{lookOf(shownStatus(node)).label}: there is no output yet.</Empty>;
  return (
    <section className="dt-part" aria-live="off">
      <h3>Writing…</h3>
      {written.gap && (
        <p className="dt-note">Some of it was not seen here; the output will have all of it.</p>
      )}
      {written.text !== "" && <LongText text={written.text} label="Text so far" live />}
    </section>
  );
}

function OutputView({ node }: { node: SpanNode }) {
  const i = useInspector();
  const { span } = node;
  if (span.output === undefined) {
    if (!isSettled(span.status)) return <Streaming node={node} />;
    return (
      <Empty>{span.status === "skipped" ? "The step was skipped: no way led here." : "No output."}</Empty>
    );
  }
  const text = mainText(span.output, specOf(i.kinds, span.node_type).result_key);
  return (
    <>
      {text !== "" && (
        <section className="dt-part">
          <h3>Text</h3>
          <LongText text={text} label="Text" />
        </section>
      )}
      <Value value={span.output} label="Output" />
    </>
  );
}

function InputView({ span }: { span: Span }) {
  if (span.input === undefined) return <Empty>The input is not known, or the step takes none.</Empty>;
  return <JsonView value={span.input} label="Input" />;
}

/** The span as the server tells it, for those who want to see all. */
function rawOf(span: Span): Json {
  const { start, end, input, output, ...rest } = span;
  const time = (ms: number): Json => (Number.isNaN(ms) ? null : new Date(ms).toISOString());
  return {
    ...(rest as unknown as Record<string, Json>),
    started_at: time(start),
    ended_at: time(end),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  };
}

function Facts({ span }: { span: Span }) {
  const u = span.usage;
  const handle = span.attributes.handle;
  const took = span.status === "skipped" ? "" : duration(span.end - span.start);
  const facts: [string, ReactNode][] = [
    ["Took", took],
    ["Went on by", typeof handle === "string" ? handle : ""],
    [
      "Tokens",
      u.input_tokens + u.output_tokens > 0 && `${amount(u.input_tokens)} in, ${amount(u.output_tokens)} out`,
    ],
    ["Cost", cost(u.cost_micros)],
    ["Round", span.round > 0 && String(span.round + 1)],
  ];
  return (
    <dl className="dt-facts">
      {facts
        .filter(([, v]) => v !== "" && v !== false)
        .map(([k, v]) => (
          <div key={k}>
            <dt>{k}</dt>
            <dd>{v}</dd>
          </div>
        ))}
    </dl>
  );
}

function Head({ node }: { node: SpanNode }) {
  const i = useInspector();
  const { span } = node;
  const spec = specOf(i.kinds, span.node_type);
  const title = span.kind === "iteration" ? `Item ${amount(iterationIndex(span))}` : span.name || span.id;
  const warning = span.attributes.warning;
  return (
    <header className="dt-head">
      <div className="dt-title">
        <span className="gn-icon" data-group={spec.group}>
          <KindIcon name={span.kind === "iteration" ? "repeat" : spec.icon} />
        </span>
        <h2 dir="auto" title={title}>
          {title}
        </h2>
        <StatusBadge status={shownStatus(node)} />
      </div>
      <div className="dt-address">
        <code title="The address of the step in the run">{span.address || span.id}</code>
        <CopyButton text={() => span.address || span.id} label="Copy the address" small />
        {span.kind === "step" && isSettled(span.status) && (
          <button
            type="button"
            className="in-link dt-fork"
            title="Starts another run that keeps what was done before this step"
            onClick={() => i.ui.set({ dialog: { kind: "rerun", from: span.address } })}
          >
            <GitFork size={12} aria-hidden="true" /> Run again from here
          </button>
        )}
      </div>
      <Facts span={span} />
      {typeof warning === "string" && warning !== "" && (
        <p className="dt-warning" dir="auto">
          {warning}
        </p>
      )}
    </header>
  );
}

function Body({ tab, node }: { tab: TabId; node: SpanNode }) {
  const { span } = node;
  switch (tab) {
    case "error":
      return span.error && <ErrorView error={span.error} span={span} />;
    case "approval":
      return <ApprovalView node={node} />;
    case "output":
      return <OutputView node={node} />;
    case "input":
      return <InputView span={span} />;
    case "trace":
      return <TraceView node={node} />;
    case "attempts":
      return <Attempts node={node} />;
    case "timing":
      return <Timing node={node} />;
    case "json":
      return <JsonView value={rawOf(span)} label="Span" />;
  }
}

export function StepDetail({ node }: { node: SpanNode }) {
  const i = useInspector();
  const { tab: wanted } = useUi();
  const tabs = tabsOf(node);
  const tab = currentTab(tabs, wanted, node.span);
  return (
    <>
      <Head node={node} />
      <Tabs id="dt" label="Of the step" value={tab} options={tabs} onChange={(t) => i.ui.set({ tab: t })} />
      <TabPanel id="dt" value={tab}>
        <Body tab={tab} node={node} />
        <Inside node={node} tab={tab} />
      </TabPanel>
    </>
  );
}

/** The way into a container from its detail. */
function Inside({ node, tab }: { node: SpanNode; tab: TabId }) {
  const i = useInspector();
  if (tab !== "output" || node.children.length === 0 || node.children.length > 30) return null;
  return (
    <section className="dt-part">
      <h3>Inside</h3>
      <ul className="dt-inside">
        {node.children.map((c) => (
          <li key={c.span.id}>
            <button type="button" className="in-link" onClick={() => i.select(c.span.id)}>
              <CornerDownRight size={12} aria-hidden="true" />
              {c.span.kind === "iteration" ? `Item ${iterationIndex(c.span)}` : c.span.name || c.span.id}
            </button>
            <span className="dt-note">{lookOf(shownStatus(c)).label}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
