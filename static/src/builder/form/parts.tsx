/** The pieces every form is made of. */

import { ChevronRight, CircleAlert, TriangleAlert } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { Issue } from "../../graph/issue";

export function IssueLines({ issues }: { issues: readonly Issue[] }) {
  return issues.map((i) => (
    <p key={`${i.code}${i.field}${i.message}`} className="ff-issue" data-severity={i.severity}>
      {i.severity === "error" ? (
        <CircleAlert size={13} aria-hidden="true" />
      ) : (
        <TriangleAlert size={13} aria-hidden="true" />
      )}
      <span>
        {i.message}
        {i.fix !== "" && <em> {i.fix}</em>}
      </span>
    </p>
  ));
}

export function Field(p: {
  label: string;
  hint?: string;
  required?: boolean;
  issues?: readonly Issue[];
  action?: ReactNode;
  htmlFor?: string;
  children: ReactNode;
}) {
  return (
    <div className="ff">
      <div className="ff-label">
        {p.htmlFor ? <label htmlFor={p.htmlFor}>{p.label}</label> : <span>{p.label}</span>}
        {p.required && <span className="ff-required">required</span>}
        {p.action && <span className="ff-action">{p.action}</span>}
      </div>
      {p.children}
      <IssueLines issues={p.issues ?? []} />
      {p.hint && <p className="ff-hint">{p.hint}</p>}
    </div>
  );
}

/** A text input that tells every change, and keeps what is typed while it is no valid value. */
export function TextInput(p: {
  id?: string;
  value: string;
  onChange: (v: string) => void;
  onCommit?: (v: string) => void;
  label?: string;
  placeholder?: string;
  mono?: boolean;
  invalid?: boolean;
  autoFocus?: boolean;
  list?: string;
  inputMode?: "text" | "decimal" | "numeric";
  disabled?: boolean;
}) {
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (p.autoFocus) ref.current?.focus();
  }, [p.autoFocus]);
  return (
    <input
      ref={ref}
      id={p.id}
      className={p.mono ? "fi fi--mono" : "fi"}
      value={p.value}
      placeholder={p.placeholder}
      aria-label={p.label}
      aria-invalid={p.invalid || undefined}
      list={p.list}
      inputMode={p.inputMode}
      disabled={p.disabled}
      autoComplete="off"
      onChange={(e) => p.onChange(e.target.value)}
      onBlur={(e) => p.onCommit?.(e.target.value)}
      onKeyDown={(e) => {
        if (e.key === "Enter") p.onCommit?.(e.currentTarget.value);
      }}
    />
  );
}

export function Select(p: {
  id?: string;
  value: string;
  onChange: (v: string) => void;
  options: readonly { value: string; label: string }[];
  label?: string;
  disabled?: boolean;
}) {
  return (
    <select
      id={p.id}
      className="fi fi--select"
      value={p.value}
      aria-label={p.label}
      disabled={p.disabled}
      onChange={(e) => p.onChange(e.target.value)}
    >
      {p.options.map((o) => (
        <option key={o.value} value={o.value}>
          {o.label}
        </option>
      ))}
    </select>
  );
}

export function Toggle(p: {
  label: string;
  checked: boolean;
  onChange: (v: boolean) => void;
  hint?: string;
}) {
  const id = useId();
  return (
    <div className="ff ff--toggle">
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={p.checked}
        className="ft"
        checked={p.checked}
        onChange={(e) => p.onChange(e.target.checked)}
      />
      <div>
        <label htmlFor={id}>{p.label}</label>
        {p.hint && <p className="ff-hint">{p.hint}</p>}
      </div>
    </div>
  );
}

export function Section(p: { title: string; open?: boolean; note?: string; children: ReactNode }) {
  const [open, setOpen] = useState(p.open ?? false);
  useEffect(() => {
    if (p.open) setOpen(true);
  }, [p.open]);
  return (
    <section className="fs">
      <button type="button" className="fs-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} aria-hidden="true" className="fs-chevron" />
        {p.title}
        {p.note && <span className="fs-note">{p.note}</span>}
      </button>
      {open && <div className="fs-body">{p.children}</div>}
    </section>
  );
}

/** Two or three ways to look at one thing. */
export function Tabs<T extends string>(p: {
  value: T;
  onChange: (v: T) => void;
  options: readonly { value: T; label: string; note?: ReactNode }[];
  label: string;
  small?: boolean;
}) {
  const move = (step: number) => {
    const at = p.options.findIndex((o) => o.value === p.value);
    const next = p.options[(at + step + p.options.length) % p.options.length];
    if (next) p.onChange(next.value);
  };
  return (
    <div className={p.small ? "tabs tabs--small" : "tabs"} role="tablist" aria-label={p.label}>
      {p.options.map((o) => (
        <button
          key={o.value}
          type="button"
          role="tab"
          aria-selected={o.value === p.value}
          tabIndex={o.value === p.value ? 0 : -1}
          onClick={() => p.onChange(o.value)}
          onKeyDown={(e) => {
            if (e.key === "ArrowRight") move(1);
            if (e.key === "ArrowLeft") move(-1);
          }}
        >
          {o.label}
          {o.note}
        </button>
      ))}
    </div>
  );
}
