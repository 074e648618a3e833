/** Lists by keyboard: j and k move, Enter opens, / searches, c creates. */

export function typing(): boolean {
  const at = document.activeElement;
  return (
    at instanceof HTMLInputElement ||
    at instanceof HTMLTextAreaElement ||
    at instanceof HTMLSelectElement ||
    (at instanceof HTMLElement && at.isContentEditable) ||
    document.querySelector("dialog[open]") !== null
  );
}

function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-list] tbody tr, [data-row]")];
  if (rows.length === 0) return;
  const at = rows.findIndex(
    (r) =>
      r.classList.contains("selected") || r.contains(document.activeElement) || r === document.activeElement,
  );
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  for (const row of rows) row.classList.toggle("selected", row === next);
  const link = next?.matches("a") ? next : next?.querySelector<HTMLElement>(".row-link");
  link?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export function keyboard(): void {
  // The builder and the inspector have keys of their own.
  if (document.getElementById("builder") || document.getElementById("inspector")) return;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing()) return;
    switch (event.key) {
      case "j":
        move(1);
        break;
      case "k":
        move(-1);
        break;
      case "/": {
        const search = document.querySelector<HTMLInputElement>("[data-search]");
        if (!search) return;
        search.focus();
        search.select();
        break;
      }
      default: {
        const button = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(event.key)}"]`);
        if (!button) return;
        button.click();
      }
    }
    event.preventDefault();
  });
}
