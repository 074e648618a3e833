/** An error: what it is, where it began, and what can be done. */

import { CornerDownRight, Lightbulb } from "lucide-react";
import type { Span, StepError } from "../../live/span";
import { useInspector } from "../context";
import { plural } from "../model/format";
import { hintFor } from "../model/hint";
import { CopyButton } from "../parts";

export function ErrorView({ error, span }: { error: StepError; span: Span | null }) {
  const i = useInspector();
  const hint = hintFor(error.code);
  const began = error.address !== "" && error.address !== span?.address ? error.address : "";
  const target = began === "" ? undefined : i.feed.spans.get(began);
  return (
    <section className="er" aria-label="Error">
      <div className="er-head">
        {error.code !== "" && <code>{error.code}</code>}
        {error.attempts > 1 && <span className="dt-note">after {plural(error.attempts, "attempt")}</span>}
        <CopyButton text={() => `${error.code}: ${error.message}`} label="Copy the error" small />
      </div>
      <p className="er-message" dir="auto">
        {error.message}
      </p>
      {began !== "" && (
        <p className="er-began">
          <CornerDownRight size={13} aria-hidden="true" />
          <span>Began at</span>
          {target === undefined ? (
            <code>{began}</code>
          ) : (
            <button type="button" className="in-link" onClick={() => i.select(target.id)}>
              <code>{began}</code>
            </button>
          )}
        </p>
      )}
      {hint !== "" && (
        <p className="er-hint">
          <Lightbulb size={14} aria-hidden="true" />
          <span>{hint}</span>
        </p>
      )}
    </section>
  );
}
