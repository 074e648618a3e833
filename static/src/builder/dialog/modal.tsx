/** A dialog of the browser: it keeps the focus and closes with Esc. */

import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";

/** Where the focus starts: what is to be filled in, otherwise the main button. */
const first = ":is(.dg-body, .qa-search) :is(.ed, input, textarea, select), .dg-foot .bt--primary:enabled";

export function Modal(p: {
  title: string;
  onClose: () => void;
  variant?: "quick" | "wide";
  footer?: ReactNode;
  onSubmit?: () => void;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const el = ref.current;
    const before = document.activeElement;
    if (el && !el.open) el.showModal();
    const target = el?.querySelector<HTMLElement>(first);
    (target?.shadowRoot?.querySelector<HTMLElement>(".cm-content") ?? target)?.focus();
    return () => {
      el?.close();
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const quick = p.variant === "quick";
  const body = (
    <>
      {!quick && (
        <header className="dg-head">
          <h2 id={id}>{p.title}</h2>
          <button type="button" className="ib" aria-label="Close" onClick={p.onClose}>
            <X size={16} aria-hidden="true" />
          </button>
        </header>
      )}
      <div className={quick ? "dg-quick" : "dg-body"}>{p.children}</div>
      {p.footer && <footer className="dg-foot">{p.footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={ref}
      className="dg"
      data-variant={p.variant}
      aria-labelledby={quick ? undefined : id}
      aria-label={quick ? p.title : undefined}
      onCancel={(e) => {
        e.preventDefault();
        p.onClose();
      }}
      onMouseDown={(e) => {
        if (e.target === ref.current) p.onClose();
      }}
      onKeyDown={(e) => e.stopPropagation()}
    >
      <form
        className="dg-box"
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          p.onSubmit?.();
        }}
      >
        {body}
      </form>
    </dialog>
  );
}
