/** The theme: light, dark, or as the system has it. */

const system = matchMedia("(prefers-color-scheme: dark)");

function current(): string {
  return localStorage.getItem("theme") ?? "system";
}

function apply(): void {
  const theme = current();
  document.documentElement.dataset["theme"] =
    theme === "dark" || (theme === "system" && system.matches) ? "dark" : "light";
  for (const button of document.querySelectorAll<HTMLElement>("[data-theme-set]")) {
    button.setAttribute("aria-pressed", String(button.dataset["themeSet"] === theme));
  }
  const label = document.querySelector("[data-theme-label]");
  if (label) label.textContent = { light: "Light", dark: "Dark", system: "System theme" }[theme] ?? "Theme";
}

function set(theme: string): void {
  localStorage.setItem("theme", theme);
  apply();
}

export function themes(): void {
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const choice = target?.closest<HTMLElement>("[data-theme-set]");
    if (choice) set(choice.dataset["themeSet"] ?? "system");
    if (target?.closest("[data-theme-toggle]")) {
      const order = ["light", "dark", "system"];
      set(order[(order.indexOf(current()) + 1) % order.length] ?? "system");
    }
  });
}
