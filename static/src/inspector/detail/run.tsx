/** The run as a whole: its input, its output, its variables, its log. */

import { isObject, type Json } from "../../graph/json";
import { isOver } from "../../live/span";
import { useInspector, useRun, useUi } from "../context";
import { runSpan } from "../inspector";
import { Empty, type Tab, TabPanel, Tabs } from "../parts";
import { lookOf } from "../status";
import { JsonView, Value } from "../value/value";
import { ErrorView } from "./error";
import { Log } from "./log";
import { Timing } from "./timing";

type TabId = "result" | "input" | "variables" | "log" | "timing";

const tabs: readonly Tab<TabId>[] = [
  { value: "result", label: "Result" },
  { value: "input", label: "Input" },
  { value: "variables", label: "Variables" },
  { value: "log", label: "Log" },
  { value: "timing", label: "Timing" },
];

function Result() {
  const run = useRun();
  const something = run.output !== undefined && run.output !== null;
  return (
    <>
      {run.error !== null && <ErrorView error={run.error} span={null} />}
      {something && <Value value={run.output ?? null} label="Output" />}
      {!something && run.error === null && (
        <Empty>
          {isOver(run.status)
            ? "The run ended without an output."
            : `${lookOf(run.status).label}. There is no output yet.`}
        </Empty>
      )}
    </>
  );
}

function isEmpty(v: Json | undefined): boolean {
  return v === undefined || v === null || (isObject(v) && Object.keys(v).length === 0);
}

function Given({ value, label, none }: { value: Json | undefined; label: string; none: string }) {
  return isEmpty(value) ? <Empty>{none}</Empty> : <JsonView value={value ?? null} label={label} />;
}

function Body({ tab }: { tab: TabId }) {
  const i = useInspector();
  const run = useRun();
  const node = i.node(runSpan);
  switch (tab) {
    case "result":
      return <Result />;
    case "input":
      return <Given value={run.input} label="Input" none="The run was started without input." />;
    case "variables":
      return <Given value={run.variables} label="Variables" none="The workflow has no variables." />;
    case "log":
      return <Log />;
    case "timing":
      return node === undefined ? <Empty>Nothing has happened yet.</Empty> : <Timing node={node} />;
  }
}

export function RunDetail() {
  const i = useInspector();
  const { tab: wanted } = useUi();
  const tab = tabs.find((t) => t.value === wanted)?.value ?? "result";
  return (
    <>
      <header className="dt-head">
        <div className="dt-title">
          <h2>The run</h2>
        </div>
      </header>
      <Tabs id="dt" label="Of the run" value={tab} options={tabs} onChange={(t) => i.ui.set({ tab: t })} />
      <TabPanel id="dt" value={tab}>
        <Body tab={tab} />
      </TabPanel>
    </>
  );
}
