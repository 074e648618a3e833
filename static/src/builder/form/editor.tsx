/** A text field that knows templates, expressions and JSON. Its engine is loaded when the first one is shown. */

import { lazy, Suspense } from "react";
import type { Suggestion } from "../../graph/upstream";

export type Language = "template" | "expression" | "json" | "code" | "plain";

export type EditorProps = {
  value: string;
  onChange: (value: string) => void;
  language: Language;
  label: string;
  describedBy?: string;
  lines: number;
  suggestions?: readonly Suggestion[];
  placeholder?: string;
  readOnly?: boolean;
  invalid?: boolean;
  autoFocus?: boolean;
  /** Called with a function that inserts an opening brace and shows the suggestions. */
  onReady?: (insert: () => void) => void;
};

const CodeEditor = lazy(() => import("./codemirror"));

export function Editor(props: EditorProps) {
  return (
    <Suspense
      fallback={<div className="ed ed--loading" style={{ height: Math.max(1, props.lines) * 20 + 12 }} />}
    >
      <CodeEditor {...props} />
    </Suspense>
  );
}
