/** The kinds of steps: a list to drag from, and the quick-add box. */

import { Search, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { KindIcon } from "../graph/icons";
import type { Kinds, Spec } from "../graph/spec";
import { nodeById, whyNotInside } from "../graph/tree";
import { useBuilder, useDocument, useUi } from "./context";
import { Modal } from "./dialog/modal";
import { dragType } from "./gestures";

const order = ["Flow", "AI", "People", "Data", "Connect"];

function matches(s: Spec, query: string): number {
  const q = query.trim().toLowerCase();
  if (q === "") return 1;
  const title = s.title.toLowerCase();
  if (title.startsWith(q)) return 4;
  if (title.split(/\s+/).some((w) => w.startsWith(q)) || s.type.startsWith(q)) return 3;
  if (title.includes(q) || s.type.includes(q)) return 2;
  return s.summary.toLowerCase().includes(q) ? 1 : 0;
}

function found(kinds: Kinds, query: string): Spec[] {
  return [...kinds.values()]
    .map((spec) => ({ spec, score: matches(spec, query) }))
    .filter((m) => m.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((m) => m.spec);
}

function grouped(specs: readonly Spec[]): [string, Spec[]][] {
  const groups = new Map<string, Spec[]>();
  for (const s of specs) {
    const list = groups.get(s.group);
    if (list) list.push(s);
    else groups.set(s.group, [s]);
  }
  const rank = (g: string) => (order.indexOf(g) + order.length + 1) % (order.length + 1);
  return [...groups].sort(([a], [b]) => rank(a) - rank(b));
}

export function Palette() {
  const b = useBuilder();
  const { palette } = useUi();
  const { definition } = useDocument();
  const [query, setQuery] = useState("");
  const specs = useMemo(() => found(b.kinds, query), [b.kinds, query]);
  const hasTrigger = definition.nodes.some((n) => n.type === "trigger");
  const add = (s: Spec) => {
    const target = b.addTarget();
    const container = nodeById(b.definition, target.parent);
    const fits = whyNotInside(s, container ? b.spec(container.type) : null) === null;
    // Clicking puts a step after the selected one where it can go there.
    b.add(s.type, fits ? target : { at: null, parent: parentFor(b, s), from: null, edge: null });
    b.ui.set({ palette: false });
  };
  return (
    <nav className="bld-palette" data-open={palette} aria-label="Steps to add">
      <div className="pl-search">
        <Search size={14} aria-hidden="true" />
        <input
          value={query}
          placeholder="Find a step"
          aria-label="Find a step"
          onChange={(e) => setQuery(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === "Escape") setQuery("");
            if (e.key === "Enter" && specs[0]) add(specs[0]);
          }}
        />
        {query !== "" && (
          <button type="button" className="ib" aria-label="Clear" onClick={() => setQuery("")}>
            <X size={13} aria-hidden="true" />
          </button>
        )}
      </div>
      <div className="pl-list">
        {grouped(specs).map(([group, list]) => (
          <section key={group} data-group={group}>
            <h2>{group}</h2>
            {list.map((s) => (
              <button
                key={s.type}
                type="button"
                className="pl-item"
                title={s.summary}
                disabled={s.type === "trigger" && hasTrigger}
                draggable
                onDragStart={(e) => {
                  e.dataTransfer.setData(dragType, s.type);
                  e.dataTransfer.effectAllowed = "copy";
                }}
                onClick={() => add(s)}
              >
                <span className="bn-icon">
                  <KindIcon name={s.icon} size={14} />
                </span>
                <span className="pl-title">{s.title}</span>
              </button>
            ))}
          </section>
        ))}
        {specs.length === 0 && <p className="ff-hint">No step is called that.</p>}
      </div>
    </nav>
  );
}

/** A branch goes into the selected parallel, or the one around the selection. */
function parentFor(b: ReturnType<typeof useBuilder>, s: Spec): string {
  if (s.container !== "branch") return "";
  let at = nodeById(b.definition, [...b.ui.get().nodes][0] ?? "");
  for (let depth = 0; at !== undefined && depth < 32; depth++) {
    if (b.spec(at.type).container === "parallel") return at.id;
    at = nodeById(b.definition, at.parent);
  }
  return b.definition.nodes.find((n) => b.spec(n.type).container === "parallel")?.id ?? "";
}

/** Type, Enter, done: adds where the canvas said. */
export function QuickAdd() {
  const b = useBuilder();
  const { adding } = useUi();
  return adding === null ? null : <QuickAddBox key={JSON.stringify(adding)} builder={b} />;
}

function QuickAddBox({ builder: b }: { builder: ReturnType<typeof useBuilder> }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const target = b.ui.get().adding ?? b.addTarget();
  const container = nodeById(b.definition, target.parent);
  const inside = container ? b.spec(container.type) : null;
  const hasTrigger = b.definition.nodes.some((n) => n.type === "trigger");
  const specs = useMemo(
    () =>
      found(b.kinds, query).filter(
        (s) =>
          whyNotInside(s, inside) === null && !(s.type === "trigger" && (hasTrigger || target.from !== null)),
      ),
    [b.kinds, query, inside, hasTrigger, target.from],
  );
  const shown = query === "" ? grouped(specs).flatMap(([, l]) => l) : specs;
  const close = () => b.ui.set({ adding: null });
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const source = nodeById(b.definition, target.from?.source ?? "");
  const where =
    target.edge !== null
      ? "onto the connection"
      : source
        ? `after ${source.label || source.id}`
        : container
          ? `into ${container.label || container.id}`
          : "";
  return (
    <Modal title={`Add a step ${where}`} onClose={close} variant="quick">
      <div className="qa-search">
        <Search size={16} aria-hidden="true" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the box was opened to type into it.
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="qa-list"
          aria-activedescendant={shown[at] ? `qa-${shown[at].type}` : undefined}
          aria-label={`Add a step ${where}`}
          placeholder={`Add a step ${where}…`}
          value={query}
          onChange={(e) => {
            setQuery(e.target.value);
            setAt(0);
          }}
          onKeyDown={(e) => {
            const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
            if (step !== 0) {
              e.preventDefault();
              setAt((at + step + shown.length) % Math.max(1, shown.length));
            }
            if (e.key === "Enter" && shown[at]) {
              e.preventDefault();
              b.add(shown[at].type, target);
            }
          }}
        />
      </div>
      <div className="qa-list" id="qa-list" role="listbox" aria-label="Steps" ref={list} tabIndex={-1}>
        {shown.map((s, i) => (
          <div
            key={s.type}
            id={`qa-${s.type}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            className="qa-item"
            data-group={s.group}
            onMouseMove={() => i !== at && setAt(i)}
            onClick={() => b.add(s.type, target)}
            onKeyDown={() => undefined}
          >
            <span className="bn-icon">
              <KindIcon name={s.icon} />
            </span>
            <span className="qa-text">
              <span>{s.title}</span>
              <small>{s.summary}</small>
            </span>
            <small className="qa-group">{s.group}</small>
          </div>
        ))}
        {shown.length === 0 && <p className="ff-hint">No step is called that here.</p>}
      </div>
    </Modal>
  );
}
