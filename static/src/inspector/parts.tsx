/** Small pieces that the views are made of. */

import { Check, Copy } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useState } from "react";

export function IconButton(p: {
  label: string;
  keys?: string;
  pressed?: boolean;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      className="in-icon"
      title={p.keys ? `${p.label} (${p.keys})` : p.label}
      aria-label={p.label}
      aria-pressed={p.pressed}
      disabled={p.disabled}
      onClick={p.onClick}
    >
      {p.children}
    </button>
  );
}

/** Copies text, and says for a moment that it has. */
export function CopyButton({ text, label, small }: { text: () => string; label: string; small?: boolean }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_200);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setCopied(true);
    } catch {
      // Without permission nothing is copied, and nothing claims to be.
    }
  };
  const Icon = copied ? Check : Copy;
  return (
    <button
      type="button"
      className="in-icon"
      data-small={small}
      title={label}
      aria-label={copied ? "Copied" : label}
      onClick={(e) => {
        e.stopPropagation();
        void copy();
      }}
    >
      <Icon size={small ? 12 : 14} aria-hidden="true" />
    </button>
  );
}

export type Tab<T extends string> = { value: T; label: string; note?: ReactNode };

/** Views of one thing, one at a time. The panel is labelled by its tab. */
export function Tabs<T extends string>(p: {
  id: string;
  label: string;
  value: T;
  options: readonly Tab<T>[];
  onChange: (v: T) => void;
}) {
  const move = (e: KeyboardEvent<HTMLButtonElement>) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const at = p.options.findIndex((o) => o.value === p.value);
    const next = p.options[(at + step + p.options.length) % p.options.length];
    if (next === undefined) return;
    p.onChange(next.value);
    document.getElementById(`${p.id}-${next.value}`)?.focus();
  };
  return (
    <div className="in-tabs" role="tablist" aria-label={p.label}>
      {p.options.map((o) => (
        <button
          key={o.value}
          id={`${p.id}-${o.value}`}
          type="button"
          role="tab"
          aria-selected={o.value === p.value}
          aria-controls={`${p.id}-panel`}
          tabIndex={o.value === p.value ? 0 : -1}
          onClick={() => p.onChange(o.value)}
          onKeyDown={move}
        >
          {o.label}
          {o.note}
        </button>
      ))}
    </div>
  );
}

export function TabPanel(p: { id: string; value: string; children: ReactNode }) {
  return (
    <div
      className="dt-body"
      role="tabpanel"
      id={`${p.id}-panel`}
      aria-labelledby={`${p.id}-${p.value}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
    >
      {p.children}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="in-empty">{children}</p>;
}
