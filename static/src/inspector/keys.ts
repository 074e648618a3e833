/** Keys that work wherever the focus is, but in fields. Those of the tree are its own. */

import { isOver } from "../live/span";
import { type Inspector, runSpan } from "./inspector";
import { filterId } from "./timeline/toolbar";

export const shortcuts: readonly { keys: readonly string[]; what: string }[] = [
  { keys: ["↑", "↓"], what: "Step above, step below" },
  { keys: ["←", "→"], what: "Close, open" },
  { keys: ["Enter"], what: "Go to the detail" },
  { keys: ["[", "]"], what: "Failure before, next failure" },
  { keys: ["F"], what: "Follow what runs" },
  { keys: ["/"], what: "Filter steps" },
  { keys: ["+", "−", "0"], what: "Zoom the time in, out, to all of it" },
  { keys: ["Esc"], what: "Back to the run as a whole" },
  { keys: ["?"], what: "This list" },
];

function isTyping(e: KeyboardEvent): boolean {
  const el = e.target;
  return el instanceof HTMLElement && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName));
}

/** The zoom is the timeline's, and so are its buttons. */
function press(label: string): void {
  document.querySelector<HTMLButtonElement>(`.tl-tools button[aria-label="${label}"]`)?.click();
}

export function listen(i: Inspector): () => void {
  const actions: Record<string, () => void> = {
    "[": () => i.goToFailure(-1),
    "]": () => i.goToFailure(1),
    f: () => !isOver(i.run.status) && i.setFollow(!i.ui.get().follow),
    "/": () => {
      i.ui.set({ pane: "timeline" });
      document.getElementById(filterId)?.focus();
    },
    "+": () => press("Zoom in"),
    "=": () => press("Zoom in"),
    "-": () => press("Zoom out"),
    "0": () => press("All of it"),
    "?": () => i.ui.set({ dialog: { kind: "help" } }),
    Escape: () => i.select(runSpan),
  };
  const down = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || isTyping(e)) return;
    if (i.ui.get().dialog !== null) return;
    const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (action === undefined) return;
    e.preventDefault();
    action();
  };
  document.addEventListener("keydown", down);
  return () => document.removeEventListener("keydown", down);
}
