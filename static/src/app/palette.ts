/** ⌘K: go to a page or a workflow. */

type Place = { title: string; href: string; kind: string };

const pages: Place[] = [
  { title: "Workflows", href: "/workflows", kind: "Page" },
  { title: "Runs", href: "/runs", kind: "Page" },
  { title: "Approvals", href: "/approvals", kind: "Page" },
  { title: "Recipes", href: "/recipes", kind: "Page" },
  { title: "New workflow", href: "/workflows#create", kind: "Action" },
  { title: "New recipe", href: "/recipes/new", kind: "Action" },
  { title: "Settings", href: "/settings", kind: "Page" },
];

async function workflows(query: string, signal: AbortSignal): Promise<Place[]> {
  const answer = await fetch(`/api/v1/workflows?limit=8&q=${encodeURIComponent(query)}`, { signal });
  if (!answer.ok) return [];
  const body = (await answer.json()) as { items: { id: string; name: string }[] };
  return body.items.map((w) => ({ title: w.name, href: `/workflows/${w.id}`, kind: "Workflow" }));
}

export function palette(): void {
  if (/Mac|iPhone|iPad/.test(navigator.userAgent)) {
    for (const key of document.querySelectorAll<HTMLElement>("[data-mod-key]"))
      key.textContent = `⌘${key.dataset.modKey}`;
  }
  const dialog = document.getElementById("palette");
  const input = document.querySelector<HTMLInputElement>("[data-palette]");
  const results = document.querySelector<HTMLElement>("[data-palette-results]");
  if (!(dialog instanceof HTMLDialogElement) || !input || !results) return;
  let asked = new AbortController();
  let chosen = 0;

  const draw = (places: Place[]): void => {
    chosen = 0;
    results.replaceChildren(
      ...places.map((p, i) => {
        const a = document.createElement("a");
        a.href = p.href;
        a.role = "option";
        a.id = `place-${i}`;
        a.tabIndex = -1;
        a.ariaSelected = String(i === 0);
        const title = document.createElement("span");
        title.dir = "auto";
        title.textContent = p.title;
        const kind = document.createElement("span");
        kind.className = "faint small";
        kind.textContent = p.kind;
        a.append(title, kind);
        return a;
      }),
    );
    point();
  };

  /** Names the chosen place to screen readers, while the focus stays in the field. */
  const point = (): void => {
    const at = results.children[chosen];
    if (at) input.setAttribute("aria-activedescendant", at.id);
    else input.removeAttribute("aria-activedescendant");
  };

  const look = async (): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    const query = input.value.trim();
    const fitting = pages.filter((p) => p.title.toLowerCase().includes(query.toLowerCase()));
    draw(fitting);
    try {
      draw([...fitting, ...(await workflows(query, asked.signal))]);
    } catch {
      // Another key was pressed, or the server is away: the pages are still there.
    }
  };

  const choose = (by: number): void => {
    const all = [...results.children];
    if (all.length === 0) return;
    chosen = (chosen + by + all.length) % all.length;
    all.forEach((a, i) => {
      a.setAttribute("aria-selected", String(i === chosen));
    });
    all[chosen]?.scrollIntoView({ block: "nearest" });
    point();
  };

  input.addEventListener("input", () => void look());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(1);
    else if (event.key === "ArrowUp") choose(-1);
    else if (event.key === "Enter") (results.children[chosen] as HTMLAnchorElement | undefined)?.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!dialog.open) dialog.showModal();
    }
  });
  new MutationObserver(() => {
    if (!dialog.open) return;
    input.value = "";
    void look();
  }).observe(dialog, { attributeFilter: ["open"] });
}
