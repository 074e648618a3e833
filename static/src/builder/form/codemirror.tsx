/**
 * A text field that knows templates, expressions and JSON: CodeMirror in a shadow
 * root. There its style sheets are adopted ones, which a strict content security
 * policy allows without a nonce.
 */

import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  placeholder as placeholderText,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { Suggestion } from "../../graph/upstream";
import type { EditorProps, Language } from "./editor";

const fromOutside = Annotation.define<boolean>();

const templateMark = Decoration.mark({ class: "cm-template" });
const templateMatcher = new MatchDecorator({ regexp: /\{\{[\s\S]*?\}\}/g, decoration: () => templateMark });
const templates = ViewPlugin.define(
  (view) => ({
    decorations: templateMatcher.createDeco(view),
    update(u: ViewUpdate) {
      this.decorations = templateMatcher.updateDeco(u, this.decorations);
    },
  }),
  { decorations: (v) => v.decorations },
);

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--bld-code-key)" },
  { tag: tags.string, color: "var(--bld-code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--bld-code-number)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "transparent", color: "var(--bld-text)", maxHeight: "420px" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { caretColor: "var(--bld-text)", padding: "5px 0", fontFamily: "var(--bld-mono)" },
  ".cm-line": { padding: "0 10px" },
  ".cm-scroller": { lineHeight: "20px", fontFamily: "var(--bld-mono)", overflow: "auto" },
  "&.cm-prose .cm-content, &.cm-prose .cm-scroller": { fontFamily: "var(--bld-sans)" },
  "&.cm-prose .cm-template": { fontFamily: "var(--bld-mono)", fontSize: "12px" },
  ".cm-cursor": { borderLeftColor: "var(--bld-text)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground, ::selection": {
    background: "var(--bld-selection) !important",
  },
  ".cm-placeholder": { color: "var(--bld-faint)" },
  ".cm-template": {
    color: "var(--bld-accent-text)",
    backgroundColor: "var(--bld-accent-soft)",
    borderRadius: "4px",
    padding: "1px 0",
  },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--bld-faint)", border: "none" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--bld-selection)" },
  ".cm-tooltip": {
    backgroundColor: "var(--bld-raised)",
    border: "1px solid var(--bld-line)",
    borderRadius: "8px",
    boxShadow: "var(--bld-shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--bld-mono)",
    fontSize: "12px",
    maxHeight: "240px",
    minWidth: "240px",
    maxWidth: "min(420px, 92vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 10px", display: "flex", gap: "12px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--bld-accent)",
    color: "var(--bld-on-accent)",
  },
  ".cm-completionDetail": {
    marginLeft: "auto",
    fontStyle: "normal",
    opacity: "0.7",
    fontFamily: "var(--bld-sans)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
});

const pathBefore = /[\p{L}\p{N}_.["\]-]*$/u;

/** Completes between braces in templates, anywhere in expressions. */
function completer(language: Language, suggestions: () => readonly Suggestion[]) {
  return (c: CompletionContext): CompletionResult | null => {
    const line = c.state.doc.lineAt(c.pos);
    const head = line.text.slice(0, c.pos - line.from);
    const braces = language !== "expression";
    if (braces && head.lastIndexOf("{{") <= head.lastIndexOf("}}")) return null;
    const word = pathBefore.exec(head)?.[0] ?? "";
    if (!braces && word === "" && !c.explicit) return null;
    const closed = /^\s*\}\}/.test(line.text.slice(c.pos - line.from));
    const options = suggestions().map((s, i) => ({
      label: s.path,
      detail: s.detail,
      boost: -Math.min(90, i / 4),
      apply: braces && !closed ? `${s.path}}}` : s.path,
    }));
    return { from: c.pos - word.length, options, validFor: /^[\p{L}\p{N}_.["\]-]*$/u };
  };
}

/** Opens braces at the cursor, or the list of names in an expression. */
function insertReference(view: EditorView, language: Language): void {
  view.focus();
  if (language !== "expression") {
    const { from, to } = view.state.selection.main;
    view.dispatch({ changes: { from, to, insert: "{{" }, selection: { anchor: from + 2 } });
  }
  startCompletion(view);
}

function extensions(p: EditorProps, latest: { current: EditorProps }): Extension[] {
  const single = p.lines <= 1;
  const out: Extension[] = [
    theme,
    history(),
    EditorState.tabSize.of(2),
    EditorView.lineWrapping,
    autocompletion({
      override: [completer(p.language, () => latest.current.suggestions ?? [])],
      icons: false,
      activateOnTyping: true,
      aboveCursor: false,
    }),
    keymap.of([
      { key: "Tab", run: acceptCompletion },
      ...completionKeymap,
      ...historyKeymap,
      ...(p.language === "code" || p.language === "json" ? [indentWithTab] : []),
      ...(single ? [{ key: "Enter", run: () => true }] : []),
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((u) => {
      if (u.docChanged && !u.transactions.some((t) => t.annotation(fromOutside))) {
        latest.current.onChange(u.state.doc.toString());
      }
    }),
    EditorView.contentAttributes.of({
      "aria-label": p.label,
      spellcheck: p.language === "template" ? "true" : "false",
      autocapitalize: "off",
      // What can be edited can be focused, but not every checker knows that.
      tabindex: "0",
    }),
  ];
  if (p.language !== "template" && p.language !== "plain") out.push(bracketMatching());
  else out.push(EditorView.editorAttributes.of({ class: "cm-prose" }));
  if (p.placeholder) out.push(placeholderText(p.placeholder));
  if (p.language !== "expression" && p.language !== "plain") out.push(templates);
  if (p.language === "json") out.push(json(), syntaxHighlighting(highlight));
  if (p.language === "code" || (p.language === "json" && p.lines > 6)) out.push(lineNumbers());
  if (p.readOnly) out.push(EditorState.readOnly.of(true));
  if (single) {
    out.push(
      EditorState.transactionFilter.of((t) =>
        t.newDoc.lines > 1 ? [t, { changes: joinLines(t.newDoc.toString()), sequential: true }] : t,
      ),
    );
  }
  return out;
}

function joinLines(text: string): { from: number; to: number; insert: string } {
  return { from: 0, to: text.length, insert: text.replace(/\r?\n/g, " ") };
}

export default function CodeEditor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { value, language, lines, autoFocus } = props;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once per language and follows its props by itself.
  useEffect(() => {
    const el = host.current;
    if (el === null) return;
    const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
    const parent = document.createElement("div");
    root.replaceChildren(parent);
    const height = new Compartment();
    const min = EditorView.theme({ ".cm-content": { minHeight: `${Math.max(1, lines) * 20}px` } });
    const editor = new EditorView({
      root,
      parent,
      state: EditorState.create({
        doc: value,
        extensions: [...extensions(latest.current, latest), height.of(min)],
      }),
    });
    view.current = editor;
    latest.current.onReady?.(() => insertReference(editor, language));
    if (autoFocus) editor.focus();
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [language, lines]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: fromOutside.of(true),
    });
  }, [value]);

  useEffect(() => {
    if (autoFocus) view.current?.focus();
  }, [autoFocus]);

  return <div ref={host} className="ed" data-invalid={props.invalid === true} data-single={lines <= 1} />;
}
