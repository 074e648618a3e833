/** Text from data: wrapped, in its own direction, never as markup. */

import { useState } from "react";
import { amount } from "../model/format";
import { CopyButton } from "../parts";

/** How much of a long text is drawn at first, and with each request for more. */
const stretch = 20_000;

export function LongText(p: { text: string; label: string; mono?: boolean; live?: boolean }) {
  const [shown, setShown] = useState(stretch);
  const rest = p.text.length - shown;
  return (
    <figure className="tx" data-live={p.live} aria-label={p.label}>
      {!p.live && <CopyButton text={() => p.text} label={`Copy ${p.label.toLowerCase()}`} small />}
      <div className="tx-text" dir="auto" data-mono={p.mono}>
        {rest > 0 ? p.text.slice(0, shown) : p.text}
        {p.live && <span className="tx-caret" aria-hidden="true" />}
      </div>
      {rest > 0 && (
        <button type="button" className="in-link" onClick={() => setShown(shown + stretch)}>
          Show more ({amount(rest)} characters)
        </button>
      )}
    </figure>
  );
}
