/** The document under edit: what it is, what it was, and what is saved. */

import type { Definition } from "./definition";

export type DocumentState = {
  readonly definition: Definition;
  readonly saved: Definition;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly dirty: boolean;
};

type Entry = { definition: Definition; label: string };

/** Edits under the same key within this time are one step of undo. */
const coalesceMS = 1_000;
const maxHistory = 200;

/**
 * Holds one document with undo and redo. Documents are immutable, so "dirty" is a
 * comparison of references: undoing back to what was saved is clean again.
 */
export class DocumentStore {
  private past: Entry[] = [];
  private future: Entry[] = [];
  private lastKey = "";
  private lastAt = 0;
  private listeners = new Set<() => void>();
  private current: DocumentState;

  constructor(
    definition: Definition,
    private readonly now: () => number = Date.now,
  ) {
    this.current = { definition, saved: definition, canUndo: false, canRedo: false, dirty: false };
  }

  get state(): DocumentState {
    return this.current;
  }

  get definition(): Definition {
    return this.current.definition;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): DocumentState => this.current;

  /** Applies an edit. With a key, further edits under it join this step of undo. */
  edit(label: string, change: (d: Definition) => Definition, key = ""): void {
    const before = this.definition;
    const after = change(before);
    if (after === before) return;
    const at = this.now();
    const joins = key !== "" && key === this.lastKey && at - this.lastAt < coalesceMS && this.past.length > 0;
    if (!joins) this.past = [...this.past.slice(1 - maxHistory), { definition: before, label }];
    this.future = [];
    this.lastKey = key;
    this.lastAt = at;
    this.set(after, this.current.saved);
  }

  /** Takes the last edit back. Returns what it was, or null. */
  undo(): string | null {
    const entry = this.past.pop();
    if (entry === undefined) return null;
    this.future.push({ definition: this.definition, label: entry.label });
    this.lastKey = "";
    this.set(entry.definition, this.current.saved);
    return entry.label;
  }

  redo(): string | null {
    const entry = this.future.pop();
    if (entry === undefined) return null;
    this.past.push({ definition: this.definition, label: entry.label });
    this.lastKey = "";
    this.set(entry.definition, this.current.saved);
    return entry.label;
  }

  /** Marks a document as stored: the one that was sent, which may be older than the current one. */
  markSaved(definition: Definition): void {
    this.lastKey = "";
    this.set(this.definition, definition);
  }

  /** Starts over with another document. */
  reset(definition: Definition): void {
    this.past = [];
    this.future = [];
    this.lastKey = "";
    this.set(definition, definition);
  }

  private set(definition: Definition, saved: Definition): void {
    this.current = {
      definition,
      saved,
      canUndo: this.past.length > 0,
      canRedo: this.future.length > 0,
      dirty: definition !== saved,
    };
    for (const l of this.listeners) l();
  }
}
