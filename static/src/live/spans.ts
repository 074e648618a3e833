/** The spans of a run as one client has them. */

import type { Span } from "./span";

/**
 * Holds spans by id. Whatever order they come in, however often, the one with the
 * highest seq of each id stays: two stores that have seen the same spans are equal.
 */
export class SpanStore {
  private readonly byId = new Map<string, Span>();
  private readonly below = new Map<string, Map<string, Span>>();
  private seen = 0;
  private changes = 0;
  /** Ids that have come since a full state began; null while none is on its way. */
  private kept: Set<string> | null = null;

  /** The highest seq up to which nothing is missing: where to go on after a break. */
  get seq(): number {
    return this.seen;
  }

  /** Grows with every change; equal versions mean an equal content. */
  get version(): number {
    return this.changes;
  }

  get size(): number {
    return this.byId.size;
  }

  get(id: string): Span | undefined {
    return this.byId.get(id);
  }

  all(): IterableIterator<Span> {
    return this.byId.values();
  }

  /** The spans that name a span as their parent, in no order. */
  childrenOf(id: string): Iterable<Span> {
    return this.below.get(id)?.values() ?? [];
  }

  /** Takes in spans. seq is how far the sender says that they reach, 0 if it does not. */
  upsert(spans: readonly Span[], seq = 0): boolean {
    let changed = false;
    for (const s of spans) changed = this.put(s) || changed;
    this.seen = Math.max(this.seen, seq);
    if (changed) this.changes++;
    return changed;
  }

  /**
   * The full state is on its way, in parts that upsert takes in; complete() ends it.
   * A break in between does no harm: what comes after goes on where it was.
   */
  begin(): void {
    this.kept = this.byId.size > 0 ? new Set() : null;
  }

  /**
   * All of the full state as of seq is here: spans of that age which it lacked are
   * gone. Newer ones stay, because it may be overtaken by an update.
   */
  complete(seq: number): boolean {
    const { kept } = this;
    this.kept = null;
    this.seen = Math.max(this.seen, seq);
    if (kept === null) return false;
    let changed = false;
    for (const s of [...this.byId.values()]) {
      if (kept.has(s.id) || s.seq > seq) continue;
      this.drop(s);
      changed = true;
    }
    if (changed) this.changes++;
    return changed;
  }

  private put(s: Span): boolean {
    this.kept?.add(s.id);
    const old = this.byId.get(s.id);
    if (old !== undefined && old.seq >= s.seq) return false;
    if (old !== undefined && old.parent_id !== s.parent_id) this.below.get(old.parent_id)?.delete(s.id);
    this.byId.set(s.id, s);
    const siblings = this.below.get(s.parent_id);
    if (siblings) siblings.set(s.id, s);
    else this.below.set(s.parent_id, new Map([[s.id, s]]));
    return true;
  }

  private drop(s: Span): void {
    this.byId.delete(s.id);
    this.below.get(s.parent_id)?.delete(s.id);
  }
}
