/** The keyboard map: one list, used by the handler and by the help. */

import { nodeById } from "../graph/tree";
import type { Builder } from "./builder";

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
export const mod = isMac ? "⌘" : "Ctrl ";

type Shortcut = {
  /** As it is shown: "mod" is ⌘ or Ctrl. */
  keys: string;
  what: string;
  group: "Document" | "Edit" | "Canvas";
  match: (e: KeyboardEvent) => boolean;
  /** Works while a text field has the focus. */
  always?: boolean;
  run: (b: Builder) => void;
};

const withMod =
  (key: string, shift = false) =>
  (e: KeyboardEvent) =>
    (isMac ? e.metaKey : e.ctrlKey) && e.shiftKey === shift && !e.altKey && e.key.toLowerCase() === key;
const plain =
  (...keys: string[]) =>
  (e: KeyboardEvent) =>
    !e.metaKey && !e.ctrlKey && !e.altKey && keys.includes(e.key);

function focusLabel(b: Builder): void {
  b.ui.set({ sheet: true });
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>(".pn-label")?.select());
}

function focusPanel(b: Builder): void {
  b.ui.set({ sheet: true });
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>(".bld-panel .pn-body :is(input, select, textarea, button)")?.focus();
  });
}

function connectSelected(b: Builder): void {
  const [id] = b.ui.get().nodes;
  if (id !== undefined && nodeById(b.definition, id)) b.ui.set({ dialog: { kind: "connect", source: id } });
}

export const shortcuts: readonly Shortcut[] = [
  {
    keys: "mod S",
    what: "Save",
    group: "Document",
    match: withMod("s"),
    always: true,
    run: (b) => void b.save(),
  },
  {
    keys: "mod Enter",
    what: "Run",
    group: "Document",
    match: withMod("enter"),
    always: true,
    run: (b) => b.ui.set({ dialog: { kind: "run" } }),
  },
  {
    keys: "I",
    what: "Show the issues",
    group: "Document",
    match: plain("i"),
    run: (b) => b.ui.set({ panel: "issues", sheet: true }),
  },
  {
    keys: "?",
    what: "This help",
    group: "Document",
    match: plain("?"),
    run: (b) => b.ui.set({ dialog: { kind: "help" } }),
  },
  {
    keys: "/",
    what: "Add a step after the selected one",
    group: "Edit",
    match: plain("/", "a"),
    run: (b) => b.ui.set({ adding: b.addTarget() }),
  },
  {
    keys: "C",
    what: "Connect the selected step to…",
    group: "Edit",
    match: plain("c"),
    run: connectSelected,
  },
  {
    keys: "E",
    what: "Edit the settings of the selection",
    group: "Edit",
    match: plain("e"),
    run: focusPanel,
  },
  { keys: "F2", what: "Rename the selected step", group: "Edit", match: plain("F2"), run: focusLabel },
  { keys: "mod Z", what: "Undo", group: "Edit", match: withMod("z"), run: (b) => b.undo() },
  {
    keys: "mod Shift Z",
    what: "Redo",
    group: "Edit",
    match: (e) => withMod("z", true)(e) || withMod("y")(e),
    run: (b) => b.redo(),
  },
  { keys: "mod D", what: "Duplicate", group: "Edit", match: withMod("d"), run: (b) => b.duplicate() },
  {
    keys: "Delete",
    what: "Delete; a chain stays joined",
    group: "Edit",
    match: plain("Delete", "Backspace"),
    run: (b) => b.deleteSelection(),
  },
  {
    keys: "mod A",
    what: "Select everything",
    group: "Canvas",
    match: withMod("a"),
    run: (b) => b.selectAll(),
  },
  {
    keys: "Esc",
    what: "Select nothing",
    group: "Canvas",
    match: plain("Escape"),
    run: (b) => b.clearSelection(),
  },
  { keys: "L", what: "Arrange", group: "Canvas", match: plain("l"), run: (b) => b.layout() },
  { keys: "F", what: "Show everything", group: "Canvas", match: plain("f", "1"), run: (b) => b.view?.fit() },
  { keys: "0", what: "Zoom to 100 %", group: "Canvas", match: plain("0"), run: (b) => b.view?.zoom("reset") },
  { keys: "+", what: "Zoom in", group: "Canvas", match: plain("+", "="), run: (b) => b.view?.zoom(1.25) },
  { keys: "−", what: "Zoom out", group: "Canvas", match: plain("-"), run: (b) => b.view?.zoom(0.8) },
];

/** What the browser and the canvas do by themselves: for the help only. */
export const gestures: readonly { keys: string; what: string }[] = [
  { keys: "mod C, mod X, mod V", what: "Copy, cut, paste: also into another workflow" },
  { keys: "Tab, Enter", what: "Walk through the steps, select one" },
  { keys: "Arrows", what: "Move the selected steps" },
  { keys: "Shift drag", what: "Select with a box" },
  { keys: "mod click", what: "Add to the selection" },
  { keys: "Drag from an output", what: "Connect; dropped on nothing it offers a new step" },
];

export function isTyping(e: Event): boolean {
  const el = e.composedPath()[0];
  return el instanceof HTMLElement && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName));
}

/** Listens on the document until the returned function is called. */
export function listen(b: Builder): () => void {
  const busy = () => b.ui.get().dialog !== null || b.ui.get().adding !== null;
  const onKey = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.isComposing || busy()) return;
    const s = shortcuts.find((x) => x.match(e));
    if (s === undefined || (isTyping(e) && !s.always)) return;
    e.preventDefault();
    s.run(b);
  };
  const free = (e: ClipboardEvent) =>
    !busy() && !isTyping(e) && (document.getSelection()?.isCollapsed ?? true);
  const onCopy = (e: ClipboardEvent) => {
    const text = free(e) ? b.copy() : null;
    if (text === null) return;
    e.preventDefault();
    e.clipboardData?.setData("text/plain", text);
    if (e.type === "cut") b.deleteSelection();
    else b.toast("Copied. Paste it here or in another workflow");
  };
  const onPaste = (e: ClipboardEvent) => {
    if (free(e) && b.paste(e.clipboardData?.getData("text/plain") ?? "")) e.preventDefault();
  };
  const onLeave = (e: BeforeUnloadEvent) => {
    if (b.store.state.dirty) e.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  document.addEventListener("copy", onCopy);
  document.addEventListener("cut", onCopy);
  document.addEventListener("paste", onPaste);
  window.addEventListener("beforeunload", onLeave);
  return () => {
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("copy", onCopy);
    document.removeEventListener("cut", onCopy);
    document.removeEventListener("paste", onPaste);
    window.removeEventListener("beforeunload", onLeave);
  };
}
