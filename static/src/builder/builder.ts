/** The builder's commands. The views call them and draw what changes. */

import { copyNodes, paste, readPiece } from "../graph/clipboard";
import { type Definition, encodeDefinition, type Position } from "../graph/definition";
import {
  connect,
  moveNodes,
  removeAndBridge,
  removeEdges,
  removeNodes,
  renameNode,
  reparent,
} from "../graph/edit";
import { edgeIndex, type Issue } from "../graph/issue";
import { type JsonObject, stringify } from "../graph/json";
import { absolutePositions, autoLayout, placeMissing } from "../graph/layout";
import { belowAll, inBody } from "../graph/placement";
import { makeRoom } from "../graph/room";
import { type Connection, whyNotConnect } from "../graph/rules";
import { snap } from "../graph/sizes";
import { type Kinds, type Spec, specOf } from "../graph/spec";
import { DocumentStore } from "../graph/store";
import { nodeById, whyNotInside, whyNotMove } from "../graph/tree";
import { freshNode, putNode, targetAfter } from "./adding";
import { ApiError, conflictOf, createWorkflow, saveWorkflow, validate, type Workflow } from "./api";
import { Checker } from "./checker";
import { type AddTarget, none, Observable, type Toast, type Ui } from "./state";

const toastMS = 6_000;

/** What the canvas can do for the commands: set by the canvas while it is mounted. */
export type View = {
  /** The point of the canvas in the middle of the screen. */
  center(): { x: number; y: number };
  fit(ids?: readonly string[]): void;
  zoom(by: number | "reset"): void;
  /** Puts the keyboard focus on a node once it is drawn. */
  focus(id: string): void;
};

export class Builder {
  readonly store: DocumentStore;
  readonly ui: Observable<Ui>;
  view: View | null = null;
  private readonly checker: Checker;
  private nextToast = 1;

  constructor(
    readonly kinds: Kinds,
    workflow: Workflow,
  ) {
    this.store = new DocumentStore(placeMissing(workflow.definition, kinds));
    this.ui = new Observable<Ui>({
      meta: metaOf(workflow),
      nodes: none,
      edges: none,
      issues: workflow.issues,
      validating: false,
      saving: false,
      offline: "",
      dialog: null,
      adding: null,
      panel: "settings",
      sheet: false,
      palette: false,
      toasts: [],
      dropInto: null,
      focusField: "",
    });
    this.checker = new Checker(this.store, this.ui);
    this.store.subscribe(() => {
      this.forgetOffers();
      this.checker.schedule();
    });
  }

  get definition(): Definition {
    return this.store.definition;
  }

  spec(type: string): Spec {
    return specOf(this.kinds, type);
  }

  // Selection

  select(nodes: Iterable<string>, edges: Iterable<string> = []): void {
    this.ui.set({ nodes: new Set(nodes), edges: new Set(edges), panel: "settings", focusField: "" });
  }

  selectAll(): void {
    this.select(this.definition.nodes.map((n) => n.id));
  }

  clearSelection(): void {
    if (this.ui.get().nodes.size + this.ui.get().edges.size > 0) this.select([]);
    this.ui.set({ sheet: false });
  }

  /** Shows a finding: selects what it is about and brings it into view. */
  goTo(issue: Issue): void {
    const edge = this.definition.edges[edgeIndex(issue)];
    if (nodeById(this.definition, issue.node_id)) {
      this.select([issue.node_id]);
      this.view?.fit([issue.node_id]);
    } else if (edge) {
      this.select([], [edge.key]);
      this.view?.fit([edge.source, edge.target]);
    } else this.select([]);
    this.ui.set({ focusField: issue.field, sheet: true });
  }

  // Edits

  edit(label: string, change: (d: Definition) => Definition, key = ""): void {
    this.store.edit(label, change, key);
  }

  /** An edit after which a container may be larger than before: what is beside it moves on. */
  private arrange(label: string, change: (d: Definition) => Definition): void {
    this.edit(label, (d) => makeRoom(d, change(d), this.kinds));
  }

  /** Adds a node of a kind and selects it. Where it can't go it is said why. */
  add(type: string, target: AddTarget): void {
    const spec = this.spec(type);
    const d = this.definition;
    if (type === "trigger" && d.nodes.some((n) => n.type === "trigger")) {
      this.toast("A workflow has one trigger, and this one has it already");
      return;
    }
    const container = nodeById(d, target.parent);
    const reason = whyNotInside(spec, container ? this.spec(container.type) : null);
    if (reason !== null) {
      this.toast(reason);
      return;
    }
    const at = target.at ? null : (this.view?.center() ?? null);
    const node = freshNode(d, this.kinds, spec, target, at);
    this.arrange(`Add ${spec.title}`, (x) => putNode(x, this.kinds, node, target));
    this.select([node.id]);
    this.ui.set({ adding: null, sheet: true });
    this.view?.focus(node.id);
  }

  connect(c: Connection): void {
    const reason = whyNotConnect(this.definition, this.kinds, c);
    if (reason !== null) this.toast(reason);
    else this.edit("Connect", (d) => connect(d, c));
  }

  rename(from: string, to: string): void {
    this.edit("Change id", (d) => renameNode(d, this.kinds, from, to));
    this.ui.set({ nodes: new Set([...this.ui.get().nodes].map((id) => (id === from ? to : id))) });
  }

  deleteSelection(): void {
    const { nodes, edges } = this.ui.get();
    if (nodes.size + edges.size === 0) return;
    const what = nodes.size > 0 ? plural(nodes.size, "step") : plural(edges.size, "connection");
    this.edit(`Delete ${what}`, (d) => {
      const without = removeEdges(d, edges);
      return nodes.size === 1 ? removeAndBridge(without, nodes) : removeNodes(without, nodes);
    });
    this.select([]);
    this.toast(`Deleted ${what}`, "info", true);
  }

  /** Moves nodes within their bodies, and into the container they were dropped on. */
  drop(positions: ReadonlyMap<string, Position>, into: string | null): void {
    const parent = into ?? "";
    const moved = new Set(
      [...positions.keys()].filter((id) => nodeById(this.definition, id)?.parent !== parent),
    );
    if (moved.size > 0) {
      this.moveInto(moved, parent, positions);
      return;
    }
    this.arrange("Move", (d) => moveNodes(d, this.inBounds(d, positions)));
  }

  private inBounds(d: Definition, positions: ReadonlyMap<string, Position>): Map<string, Position> {
    return new Map([...positions].map(([id, p]) => [id, inBody(p, nodeById(d, id)?.parent ?? "")] as const));
  }

  /** Puts nodes into another body, at the same place of the canvas. */
  moveInto(ids: ReadonlySet<string>, parent: string, dragged?: ReadonlyMap<string, Position>): void {
    for (const id of ids) {
      const reason = whyNotMove(this.definition, this.kinds, id, parent);
      if (reason !== null) {
        this.toast(reason);
        return;
      }
    }
    const before = this.definition;
    const absolute = absolutePositions(before);
    const target = absolute.get(parent) ?? { x: 0, y: 0 };
    const positions = new Map<string, Position>();
    for (const id of ids) {
      const base = absolute.get(nodeById(before, id)?.parent ?? "") ?? { x: 0, y: 0 };
      const p = dragged?.get(id) ?? nodeById(before, id)?.position ?? { x: 0, y: 0 };
      const relative = { x: snap(base.x + p.x - target.x), y: snap(base.y + p.y - target.y) };
      positions.set(id, inBody(relative, parent));
    }
    if (dragged === undefined && parent !== "") {
      for (const id of ids) positions.set(id, belowAll(this.definition, this.kinds, parent));
    }
    this.arrange("Move into container", (d) => reparent(d, ids, parent, positions));
    const lost = before.edges.length - this.definition.edges.length;
    if (lost > 0)
      this.toast(
        `${plural(lost, "connection")} removed: ${lost === 1 ? "it" : "they"} would cross the container's border`,
        "info",
        true,
      );
  }

  layout(): void {
    this.edit("Arrange", (d) => autoLayout(d, this.kinds));
    requestAnimationFrame(() => this.view?.fit());
  }

  undo(): void {
    const label = this.store.undo();
    if (label !== null) this.pruneSelection();
  }

  redo(): void {
    const label = this.store.redo();
    if (label !== null) this.pruneSelection();
  }

  private pruneSelection(): void {
    const ids = new Set(this.definition.nodes.map((n) => n.id));
    const keys = new Set(this.definition.edges.map((e) => e.key));
    const { nodes, edges } = this.ui.get();
    this.ui.set({
      nodes: new Set([...nodes].filter((id) => ids.has(id))),
      edges: new Set([...edges].filter((k) => keys.has(k))),
    });
  }

  // Clipboard

  copy(): string | null {
    const { nodes } = this.ui.get();
    return nodes.size === 0 ? null : copyNodes(this.definition, nodes);
  }

  /** Pastes what copy wrote, here or in another workflow. Returns whether the text was that. */
  paste(text: string, offset = { x: 32, y: 32 }): boolean {
    const piece = readPiece(text);
    if (piece === null) return false;
    const result = paste(
      this.definition,
      this.kinds,
      placeMissing(piece, this.kinds),
      this.pasteParent(piece),
      offset,
    );
    if (result.roots.length > 0) {
      this.arrange("Paste", () => result.definition);
      this.select(result.roots);
      if (result.roots[0] !== undefined) this.view?.focus(result.roots[0]);
    }
    if (result.skipped.length > 0) this.toast(result.skipped.join(". "));
    return true;
  }

  /** Into the selected container; otherwise beside the selection; otherwise the workflow. */
  private pasteParent(piece: Definition): string {
    const [only] = this.ui.get().nodes;
    const node = only === undefined ? undefined : nodeById(this.definition, only);
    if (node === undefined) return "";
    const copied = piece.nodes.some((n) => n.id === node.id);
    return !copied && this.spec(node.type).container !== "" ? node.id : node.parent;
  }

  duplicate(): void {
    const text = this.copy();
    if (text !== null) this.paste(text);
  }

  // Server

  /** Stores the draft. Returns whether it is stored. */
  async save(): Promise<boolean> {
    const { saving, meta } = this.ui.get();
    if (saving) return false;
    const sent = this.definition;
    this.ui.set({ saving: true });
    try {
      const w = await saveWorkflow(meta.id, meta.revision, sent);
      this.store.markSaved(sent);
      this.ui.set({ meta: metaOf(w) });
      return true;
    } catch (err) {
      this.failed(err, "Not saved");
      return false;
    } finally {
      this.ui.set({ saving: false });
    }
  }

  failed(err: unknown, what: string): void {
    if (err instanceof ApiError && err.status === 409) {
      this.ui.set({ dialog: { kind: "conflict", conflict: conflictOf(err) } });
      return;
    }
    this.toast(`${what}: ${err instanceof Error ? err.message : String(err)}`, "danger");
  }

  /** Takes over what the server has; what was here can be brought back with undo. */
  takeTheirs(w: Workflow): void {
    const theirs = placeMissing(w.definition, this.kinds);
    this.edit("Reload", () => theirs);
    this.store.markSaved(theirs);
    this.ui.set({ meta: metaOf(w), issues: w.issues, dialog: null });
    this.pruneSelection();
  }

  async saveCopy(name: string): Promise<string> {
    const w = await createWorkflow(encodeDefinition({ ...this.definition, name }));
    this.store.markSaved(this.definition);
    return w.id;
  }

  /** Replaces the draft by a file in any accepted form; undo brings the draft back. */
  async importText(name: string, document: JsonObject): Promise<void> {
    const { definition, issues } = await validate(document);
    if (definition === null) throw new Error("The file holds no workflow");
    const placed = placeMissing({ ...definition, name: definition.name || name }, this.kinds);
    this.edit("Import", () => placed);
    this.ui.set({ issues, dialog: null });
    this.select([]);
    requestAnimationFrame(() => this.view?.fit());
  }

  exportText(): string {
    return `${stringify(encodeDefinition(this.definition), 2)}\n`;
  }

  /** Asks the server for every finding of the current document, now. */
  check(): Promise<void> {
    return this.checker.check();
  }

  /** An undo that is offered means the edit it was offered for, and no later one. */
  private forgetOffers(): void {
    const toasts = this.ui.get().toasts.filter((t) => t.undo === null || t.undo === this.definition);
    if (toasts.length < this.ui.get().toasts.length) this.ui.set({ toasts });
  }

  // Toasts

  toast(text: string, tone: Toast["tone"] = "info", undo = false): void {
    const id = this.nextToast++;
    const others = this.ui.get().toasts.filter((t) => t.text !== text);
    const toast = { id, text, tone, undo: undo ? this.definition : null };
    this.ui.set({ toasts: [...others.slice(-2), toast] });
    setTimeout(() => this.dismiss(id), toastMS);
  }

  dismiss(id: number): void {
    this.ui.set({ toasts: this.ui.get().toasts.filter((t) => t.id !== id) });
  }

  /** Where quick-add puts a node when nothing else is said: after the selected one. */
  addTarget(): AddTarget {
    const { nodes, edges } = this.ui.get();
    return targetAfter(this.definition, this.kinds, [...nodes][0], [...edges][0]);
  }
}

export function metaOf(w: Workflow): Ui["meta"] {
  const { id, revision, published_version, published_at, updated_at } = w;
  return { id, revision, published_version, published_at, updated_at };
}

export function plural(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? "" : "s"}`;
}
