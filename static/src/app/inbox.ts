/** Answering approvals: keys for the answers, comments where one is needed. */

import { typing } from "./keyboard";

export function inbox(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-decide]");
  if (!form) return;
  const comment = form.querySelector<HTMLTextAreaElement>("#comment");
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button?.hasAttribute("data-require-comment") && comment && comment.value.trim() === "") {
      event.preventDefault();
      comment.setCustomValidity("This answer needs a comment.");
      comment.reportValidity();
      return;
    }
    // One click is one answer.
    setTimeout(() => {
      for (const b of form.querySelectorAll("button")) b.disabled = true;
    });
  });
  comment?.addEventListener("input", () => comment.setCustomValidity(""));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing()) return;
    const button = form.querySelector<HTMLButtonElement>(`[data-outcome-key="${CSS.escape(event.key)}"]`);
    if (!button || event.key === "") return;
    event.preventDefault();
    button.click();
  });
}
