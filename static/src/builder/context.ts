import { createContext, useContext, useMemo, useSyncExternalStore } from "react";
import type { FlowNode } from "../graph/definition";
import type { Issue } from "../graph/issue";
import type { DocumentState } from "../graph/store";
import { nodeById } from "../graph/tree";
import type { Builder } from "./builder";
import type { Ui } from "./state";

export const BuilderContext = createContext<Builder | null>(null);

export function useBuilder(): Builder {
  const b = useContext(BuilderContext);
  if (b === null) throw new Error("the builder's views need its context");
  return b;
}

export function useDocument(): DocumentState {
  const b = useBuilder();
  return useSyncExternalStore(b.store.subscribe, b.store.snapshot);
}

export function useUi(): Ui {
  const b = useBuilder();
  return useSyncExternalStore(b.ui.subscribe, b.ui.get);
}

export function useNode(id: string): FlowNode | undefined {
  return nodeById(useDocument().definition, id);
}

const noIssues: readonly Issue[] = [];

/** Findings by node; the same list for as long as the findings are the same. */
export function useIssuesByNode(): (id: string) => readonly Issue[] {
  const { issues } = useUi();
  return useMemo(() => {
    const byNode = new Map<string, Issue[]>();
    for (const i of issues) {
      const list = byNode.get(i.node_id);
      if (list) list.push(i);
      else byNode.set(i.node_id, [i]);
    }
    return (id: string) => byNode.get(id) ?? noIssues;
  }, [issues]);
}
