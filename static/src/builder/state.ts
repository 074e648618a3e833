/** What the builder shows beside the document: selection, dialogs, findings. */

import type { Definition } from "../graph/definition";
import type { Issue } from "../graph/issue";
import type { Conflict } from "./api";

/** Where a node that is picked from the quick-add list goes. */
export type AddTarget = {
  /** Canvas coordinates of the new node's corner, or null for a place near the selection. */
  at: { x: number; y: number } | null;
  parent: string;
  /** The output that leads to the new node. */
  from: { source: string; handle: string } | null;
  /** The edge that the new node is put on, by key. */
  edge: string | null;
};

export type Dialog =
  | { kind: "run" }
  | { kind: "publish" }
  | { kind: "help" }
  | { kind: "conflict"; conflict: Conflict }
  | { kind: "import"; text: string; name: string }
  | { kind: "connect"; source: string };

export type Toast = {
  id: number;
  tone: "info" | "success" | "danger";
  text: string;
  /** The document that the offered undo leads away from; null offers none. */
  undo: Definition | null;
};

export type Meta = {
  id: string;
  revision: number;
  published_version: number;
  published_at: string;
  updated_at: string;
};

export type Ui = {
  meta: Meta;
  nodes: ReadonlySet<string>;
  edges: ReadonlySet<string>;
  issues: readonly Issue[];
  validating: boolean;
  saving: boolean;
  /** The last reason why validation could not run, or "". */
  offline: string;
  dialog: Dialog | null;
  adding: AddTarget | null;
  panel: "settings" | "issues";
  /** On narrow screens the panel is a sheet that opens on demand. */
  sheet: boolean;
  palette: boolean;
  toasts: readonly Toast[];
  /** The container that a dragged node would be dropped into. */
  dropInto: string | null;
  /** A field to put the cursor into: set when an issue is clicked. */
  focusField: string;
};

export const none: ReadonlySet<string> = new Set();

/** A value with listeners, for useSyncExternalStore. */
export class Observable<T> {
  private listeners = new Set<() => void>();
  constructor(private value: T) {}

  get = (): T => this.value;

  set(fields: Partial<T>): void {
    this.value = { ...this.value, ...fields };
    for (const l of this.listeners) l();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}
