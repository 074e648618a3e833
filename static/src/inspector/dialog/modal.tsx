/** A dialog of the browser: it keeps the focus, and Esc closes it. */

import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";

export function Modal(p: {
  title: string;
  onClose: () => void;
  onSubmit?: () => void;
  footer?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const el = ref.current;
    const before = document.activeElement;
    if (el && !el.open) el.showModal();
    el?.querySelector<HTMLElement>(
      ".dg-body :is(input, textarea, select), .dg-foot [data-first=true]",
    )?.focus();
    return () => {
      el?.close();
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className="dg"
      data-wide={p.wide}
      aria-labelledby={id}
      onCancel={(e) => {
        e.preventDefault();
        p.onClose();
      }}
      onMouseDown={(e) => e.target === ref.current && p.onClose()}
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
        <header className="dg-head">
          <h2 id={id}>{p.title}</h2>
          <button type="button" className="in-icon" aria-label="Close" onClick={p.onClose}>
            <X size={15} aria-hidden="true" />
          </button>
        </header>
        <div className="dg-body">{p.children}</div>
        {p.footer && <footer className="dg-foot">{p.footer}</footer>}
      </form>
    </dialog>
  );
}
