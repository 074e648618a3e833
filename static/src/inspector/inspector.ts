/** The inspector's state: what is known of the run, and what is looked at. */

import { Observable } from "../builder/state";
import type { Definition } from "../graph/definition";
import type { Kinds } from "../graph/spec";
import { RunFeed } from "../live/run";
import { isOver, type Run, type Span } from "../live/span";
import { buildTree, type SpanNode } from "../live/tree";
import type { Interval } from "./model/bar";
import { type Picks, picksFor } from "./model/overlay";
import {
  type Filter,
  failuresIn,
  keysAbove,
  latestActive,
  neighbour,
  pageKey,
  pagesOf,
  treeOrder,
} from "./model/rows";
import { tidy } from "./model/tidy";

export type Pane = "timeline" | "graph" | "detail";

export type Dialog =
  | { kind: "cancel" }
  | { kind: "retry" }
  | { kind: "help" }
  /** Another run of the workflow; from a step's address it keeps what was done before. */
  | { kind: "rerun"; from: string };

export type Ui = {
  /** The key of the active row: a span's id or a page of a loop. */
  active: string;
  /** What was opened or closed by hand. */
  toggled: ReadonlyMap<string, boolean>;
  filter: Filter;
  follow: boolean;
  /** The stretch of time in view; null shows all of it. */
  zoom: Interval | null;
  /** Whether long waits are cut short on the axis. */
  compact: boolean;
  picks: Picks;
  /** The one pane that narrow screens show. */
  pane: Pane;
  /** The tab of the detail that was chosen last; kept from step to step. */
  tab: string;
  dialog: Dialog | null;
  /** What went well or wrong last, in words. */
  notice: { text: string; tone: "info" | "danger" } | null;
};

export const runSpan = "@run";

export class Inspector {
  readonly feed: RunFeed;
  readonly definition: Definition;
  readonly ui: Observable<Ui>;
  private readonly ranks: ReadonlyMap<string, number>;
  private tree: { version: number; roots: SpanNode[] } = { version: -1, roots: [] };
  private byId: { version: number; nodes: Map<string, SpanNode> } = { version: -1, nodes: new Map() };
  private wasOver: boolean;

  constructor(
    run: Run,
    definition: Definition,
    readonly kinds: Kinds,
    readonly layout: Definition = tidy(definition, kinds),
  ) {
    this.definition = definition;
    this.feed = new RunFeed(run.id);
    this.feed.load(run);
    this.ranks = new Map(definition.nodes.map((n, i) => [n.id, i]));
    this.wasOver = isOver(run.status);
    this.ui = new Observable<Ui>({
      active: runSpan,
      toggled: new Map(),
      filter: { text: "", failedOnly: false },
      follow: !this.wasOver,
      zoom: null,
      compact: true,
      picks: new Map(),
      pane: "timeline",
      tab: "",
      dialog: null,
      notice: null,
    });
    this.feed.subscribe(() => this.changed());
  }

  get run(): Run {
    const { run } = this.feed.snapshot();
    if (run === null) throw new Error("the feed starts with a run");
    return run;
  }

  /** The span tree; the same object until a span changes. */
  roots(): SpanNode[] {
    const { version } = this.feed.spans;
    if (this.tree.version !== version) {
      const rank = (id: string): number => this.ranks.get(id) ?? this.ranks.size;
      this.tree = { version, roots: buildTree(this.feed.spans, rank) };
    }
    return this.tree.roots;
  }

  node(id: string): SpanNode | undefined {
    const { version } = this.feed.spans;
    if (this.byId.version !== version) {
      const nodes = new Map<string, SpanNode>();
      const walk = (n: SpanNode): void => {
        nodes.set(n.span.id, n);
        for (const c of n.children) walk(c);
      };
      for (const r of this.roots()) walk(r);
      this.byId = { version, nodes };
    }
    return this.byId.nodes.get(id);
  }

  /** Whether a kind waits for something outside, so that its time is no work. */
  waits = (type: string): boolean => this.kinds.get(type)?.class === "park";

  /** Looks at a row. It and what it is in is shown in the timeline and on the graph. */
  select(key: string, more: Partial<Ui> = {}): void {
    const { toggled } = this.ui.get();
    const above = keysAbove((id) => this.feed.spans.get(id), key).filter((k) => toggled.get(k) !== true);
    const opened =
      above.length === 0 ? toggled : new Map([...toggled, ...above.map((k) => [k, true] as const)]);
    this.ui.set({ active: key, toggled: opened, follow: false, picks: this.picksOf(key), ...more });
    remember(key);
  }

  private picksOf(key: string): Picks {
    const { picks } = this.ui.get();
    const span = this.feed.spans.get(key);
    return span === undefined ? picks : new Map([...picks, ...picksFor(span.address)]);
  }

  /** Shows an iteration of a loop on the graph, and selects it. */
  pick(loop: Span, index: number): void {
    const id = `${loop.address}[${index}]`;
    if (this.feed.spans.get(id) !== undefined) this.select(id);
    else this.ui.set({ picks: new Map([...this.ui.get().picks, [loop.address, index]]) });
  }

  toggle(key: string, open: boolean): void {
    const ui = this.ui.get();
    const hidden = !open && keysAbove((id) => this.feed.spans.get(id), ui.active).includes(key);
    this.ui.set({
      toggled: new Map([...ui.toggled, [key, open]]),
      follow: ui.follow && !hidden,
      ...(hidden ? { active: key } : {}),
    });
  }

  /** Opens or closes everything at once. */
  toggleAll(open: boolean): void {
    const toggled = new Map<string, boolean>();
    const walk = (n: SpanNode): void => {
      if (n.children.length > 0 && n.span.kind !== "run") toggled.set(n.span.id, open);
      for (const page of pagesOf(n) ?? []) toggled.set(pageKey(n.span.id, page.from), open);
      for (const c of n.children) walk(c);
    };
    for (const r of this.roots()) walk(r);
    const { active } = this.ui.get();
    const shown = open || this.node(active)?.span.parent_id === runSpan;
    this.ui.set({ toggled, follow: false, ...(shown ? {} : { active: runSpan }) });
  }

  failures(): string[] {
    return failuresIn(this.roots());
  }

  /** Goes to the next or previous failure. */
  goToFailure(step: 1 | -1): void {
    const roots = this.roots();
    const next = neighbour(failuresIn(roots), treeOrder(roots), this.ui.get().active, step);
    if (next !== null) this.select(next);
  }

  setFollow(follow: boolean): void {
    this.ui.set({ follow });
    if (follow) this.followLatest();
  }

  say(text: string, tone: "info" | "danger" = "info"): void {
    this.ui.set({ notice: { text, tone } });
  }

  private changed(): void {
    const over = isOver(this.run.status);
    if (this.ui.get().follow && !over) this.followLatest();
    if (over && !this.wasOver) this.ended();
    this.wasOver = over;
  }

  private followLatest(): void {
    const latest = latestActive(this.roots());
    if (latest === null || latest === this.ui.get().active) return;
    this.ui.set({ active: latest, picks: this.picksOf(latest) });
  }

  /** What was followed has come to its end: show how. */
  private ended(): void {
    if (!this.ui.get().follow) return;
    const [failure] = this.run.status === "succeeded" ? [] : this.failures();
    this.select(failure ?? runSpan);
  }
}

/** Keeps the selection in the address, so that it can be passed on. */
function remember(key: string): void {
  const hash = key === runSpan ? "" : `#span=${encodeURIComponent(key)}`;
  if (location.hash !== hash)
    history.replaceState(history.state, "", location.pathname + location.search + hash);
}

/** The selection that the address names, or "". */
export function remembered(): string {
  const m = /^#span=(.+)$/.exec(location.hash);
  try {
    return decodeURIComponent(m?.[1] ?? "");
  } catch {
    return "";
  }
}
