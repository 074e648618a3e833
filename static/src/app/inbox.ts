/** Answering approvals: keys for the answers, comments where one is needed. */

import { typing } from "./keyboard";

/** Tells that somebody else has answered, before more is typed in vain. */
function watchState(form: HTMLFormElement): void {
  document.addEventListener("htmx:afterSettle", () => {
    const state = document.querySelector<HTMLElement>("#letter-state [data-status]");
    if (!state || state.dataset["status"] === "pending" || form.querySelector("[data-late]")) return;
    const late = document.createElement("p");
    late.className = "notice";
    late.dataset["late"] = "";
    late.role = "alert";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Show it";
    late.append("This approval was answered in the meantime. ", link);
    form.prepend(late);
    for (const button of form.querySelectorAll("button")) button.disabled = true;
  });
}

export function inbox(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-decide]");
  if (!form) return;
  watchState(form);
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
