/** A JSON value that can be folded, searched and copied. */

import { ChevronRight, Search, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { isNumber, type Json, stringify } from "../../graph/json";
import { amount, bytes } from "../model/format";
import { CopyButton, IconButton } from "../parts";
import { type Line, leafText, linesOf, mostMatches, search, shortText, sizeOf } from "./flatten";
import { LongText } from "./text";

/** More lines than this are drawn on request. */
const firstLines = 300;

function Marked({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted === "" ? -1 : text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      <Marked text={text.slice(at + wanted.length)} wanted={wanted} />
    </>
  );
}

function typeOf(v: Json): string {
  if (v === null) return "null";
  return isNumber(v) ? "number" : typeof v;
}

function Leaf({ line, wanted }: { line: Line; wanted: string }) {
  const [whole, setWhole] = useState(false);
  const { value } = line;
  const text = leafText(value);
  if (typeof value !== "string") {
    return (
      <span className="jv-leaf" data-type={typeOf(value)}>
        <Marked text={text} wanted={wanted} />
      </span>
    );
  }
  if (whole) return <LongText text={text} label="Text" mono />;
  const long = text.length > shortText;
  return (
    <span className="jv-leaf" data-type="string" dir="auto">
      <Marked text={long ? text.slice(0, shortText) : text} wanted={wanted} />
      {long && (
        <button type="button" className="in-link" onClick={() => setWhole(true)}>
          … all {amount(text.length)} characters
        </button>
      )}
    </span>
  );
}

function describe(line: Line): string {
  if (line.chunk !== null) return `${amount(line.chunk.to - line.chunk.from + 1)} entries`;
  const n = sizeOf(line.value);
  if (Array.isArray(line.value)) return n === 1 ? "1 entry" : `${amount(n)} entries`;
  return n === 1 ? "1 field" : `${amount(n)} fields`;
}

type LineProps = { line: Line; wanted: string; current: boolean; onToggle: (line: Line) => void };

function JsonLine({ line, wanted, current, onToggle }: LineProps) {
  const key = line.chunk ? `${amount(line.chunk.from)} … ${amount(line.chunk.to)}` : line.key;
  const name = key !== null && (
    <span className="jv-key" dir="auto">
      <Marked text={key} wanted={line.chunk ? "" : wanted} />
    </span>
  );
  const style = { paddingInlineStart: `${line.depth * 14}px` };
  return (
    <li className="jv-line" style={style} data-path={line.path} data-current={current}>
      {line.expandable ? (
        <button
          type="button"
          className="jv-fold"
          aria-expanded={line.expanded}
          onClick={() => onToggle(line)}
        >
          <ChevronRight size={12} aria-hidden="true" />
          {name}
          <span className="jv-size">{describe(line)}</span>
        </button>
      ) : (
        <span className="jv-pair">
          {name}
          <Leaf line={line} wanted={wanted} />
        </span>
      )}
      {line.chunk === null && line.depth > 0 && (
        <CopyButton
          small
          label="Copy this value"
          text={() => (typeof line.value === "string" ? line.value : stringify(line.value, 2))}
        />
      )}
    </li>
  );
}

function useSearch(value: Json, open: (paths: readonly string[]) => void) {
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => search(value, wanted), [value, wanted]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: opens what a new search has found, once
  useEffect(() => {
    setAt(0);
    open(found.open);
  }, [found]);
  const step = (by: number) => setAt((at + by + found.paths.length) % Math.max(1, found.paths.length));
  return { wanted, setWanted, found, at, step };
}

function SearchBox(p: { s: ReturnType<typeof useSearch>; onClose: () => void }) {
  const { wanted, setWanted, found, at, step } = p.s;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const many = found.paths.length >= mostMatches ? `${mostMatches}+` : String(found.paths.length);
  return (
    <div className="jv-search">
      <Search size={13} aria-hidden="true" />
      <input
        ref={input}
        value={wanted}
        aria-label="Search in this value"
        placeholder="Search keys and values"
        onChange={(e) => setWanted(e.target.value)}
        onKeyDown={(e) => {
          e.stopPropagation();
          if (e.key === "Enter") step(e.shiftKey ? -1 : 1);
          if (e.key === "Escape") p.onClose();
        }}
      />
      <span className="jv-found" role="status">
        {wanted.trim() !== "" && (found.paths.length === 0 ? "none" : `${at + 1} / ${many}`)}
      </span>
      <IconButton label="Close the search" onClick={p.onClose}>
        <X size={13} aria-hidden="true" />
      </IconButton>
    </div>
  );
}

export function JsonView({ value, label }: { value: Json; label: string }) {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [shown, setShown] = useState(firstLines);
  const [searching, setSearching] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const s = useSearch(value, (paths) => {
    if (paths.length > 0) setOpened((o) => new Map([...o, ...paths.map((p) => [p, true] as const)]));
  });
  const lines = useMemo(() => linesOf(value, opened), [value, opened]);
  const text = useMemo(() => stringify(value, 2), [value]);
  const current = searching ? s.found.paths[s.at] : undefined;
  const place = current === undefined ? -1 : lines.findIndex((l) => l.path === current);
  const drawn = Math.max(shown, place + 20);
  useEffect(() => {
    if (current === undefined) return;
    list.current?.querySelector(`[data-path="${CSS.escape(current)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const close = () => {
    setSearching(false);
    s.setWanted("");
  };
  return (
    <div className="jv">
      <div className="jv-bar">
        {searching ? (
          <SearchBox s={s} onClose={close} />
        ) : (
          <>
            <span className="jv-title">{label}</span>
            <span className="jv-note">{bytes(text.length)}</span>
            <IconButton label={`Search in ${label.toLowerCase()}`} onClick={() => setSearching(true)}>
              <Search size={13} aria-hidden="true" />
            </IconButton>
          </>
        )}
        <CopyButton text={() => text} label={`Copy ${label.toLowerCase()} as JSON`} />
      </div>
      <ul className="jv-lines" ref={list}>
        {lines.slice(0, drawn).map((l) => (
          <JsonLine
            key={l.path}
            line={l}
            wanted={searching ? s.wanted.trim() : ""}
            current={l.path === current}
            onToggle={(line) => setOpened(new Map([...opened, [line.path, !line.expanded]]))}
          />
        ))}
      </ul>
      {lines.length > drawn && (
        <button type="button" className="in-link" onClick={() => setShown(drawn + 1_000)}>
          Show more ({amount(lines.length - drawn)} lines)
        </button>
      )}
    </div>
  );
}

/** Any value: text as text, the rest as JSON. */
export function Value({ value, label }: { value: Json; label: string }) {
  if (typeof value === "string" && value !== "") {
    return (
      <section className="dt-part">
        <h3>{label}</h3>
        <LongText text={value} label={label} />
      </section>
    );
  }
  return <JsonView value={value} label={label} />;
}
