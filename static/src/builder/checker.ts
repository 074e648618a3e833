/** Keeps the findings up to date while the document changes. */

import { type Definition, encodeDefinition } from "../graph/definition";
import type { DocumentStore } from "../graph/store";
import { ApiError, validate } from "./api";
import type { Observable, Ui } from "./state";

const delayMS = 400;

/** Validates on the server, a moment after the last edit. Only the latest answer counts. */
export class Checker {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: AbortController | undefined;
  private checked: Definition | undefined;

  constructor(
    private readonly store: DocumentStore,
    private readonly ui: Observable<Ui>,
  ) {}

  schedule(): void {
    clearTimeout(this.timer);
    if (this.store.definition !== this.checked) this.timer = setTimeout(() => void this.check(), delayMS);
  }

  async check(): Promise<void> {
    this.running?.abort();
    const mine = new AbortController();
    this.running = mine;
    const d = this.store.definition;
    this.ui.set({ validating: true });
    try {
      const { issues } = await validate(encodeDefinition(d), mine.signal);
      if (this.running !== mine) return;
      this.checked = d;
      this.ui.set({ issues, validating: false, offline: "" });
    } catch (err) {
      if (this.running !== mine) return;
      // What can't be read at all comes with its findings, too.
      const findings = err instanceof ApiError && err.issues.length > 0 ? { issues: err.issues } : null;
      const offline = err instanceof Error ? err.message : String(err);
      this.ui.set({ validating: false, offline: findings ? "" : offline, ...findings });
    }
  }
}
