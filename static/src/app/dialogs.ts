/** Dialogs, menus, confirmations and copying. */

/** Asks before a form that can't be undone is sent. */
function confirmed(form: HTMLFormElement): Promise<boolean> {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Please confirm");
  const body = document.createElement("form");
  body.method = "dialog";
  body.className = "dialog-body";
  const text = document.createElement("p");
  text.dir = "auto";
  text.textContent = form.dataset["confirm"] ?? "";
  const foot = document.createElement("div");
  foot.className = "dialog-foot";
  for (const [label, value, look] of [
    ["Keep", "no", "btn"],
    ["Go on", "yes", "btn btn-danger"],
  ] as const) {
    const button = document.createElement("button");
    button.className = look;
    button.value = value;
    button.textContent = label;
    foot.append(button);
  }
  body.append(text, foot);
  dialog.append(body);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
  });
}

function onClick(event: MouseEvent): void {
  const target = event.target instanceof Element ? event.target : null;
  const opener = target?.closest<HTMLElement>("[data-open]:not([data-inbox])");
  if (opener && opener.tagName === "BUTTON") {
    const dialog = document.getElementById(opener.dataset["open"] ?? "");
    if (dialog instanceof HTMLDialogElement) dialog.showModal();
  }
  if (target?.closest("[data-close]")) target.closest("dialog")?.close();
  if (target instanceof HTMLDialogElement) target.close(); // a click beside it
  if (target?.closest("[data-copy]")) {
    const source = target.closest(".row")?.querySelector("[data-copy-source]");
    const button = target.closest<HTMLElement>("[data-copy]");
    void navigator.clipboard.writeText(source?.textContent ?? "").then(() => {
      if (button) button.textContent = "Copied";
    });
  }
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]")) {
    if (!target || !menu.contains(target)) menu.open = false;
  }
}

export function dialogs(): void {
  // An address may name a dialog: /workflows#create.
  const openNamed = (): void => {
    const named = location.hash === "" ? null : document.getElementById(location.hash.slice(1));
    if (named instanceof HTMLDialogElement && !named.open) named.showModal();
  };
  window.addEventListener("hashchange", openNamed);
  openNamed();
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset["confirm"]) return;
    event.preventDefault();
    void confirmed(form).then((yes) => {
      if (yes) form.submit();
    });
  });
}
