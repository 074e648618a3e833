/** The time axis above the bars, and its lines behind them. */

import { type PointerEvent, useRef, useState } from "react";
import { duration } from "../model/format";
import type { Break, Scale, View } from "../model/scale";
import type { Zoom } from "./zoom";

/** A place of the axis as a percentage of what is in view. */
export function percent(place: number, view: View): number {
  return ((place - view.from) / (view.to - view.from)) * 100;
}

/** Stays where it is while rows scroll: as tall as all rows it would be slow to paint. */
export function Grid({ scale, view, most }: { scale: Scale; view: View; most: number }) {
  return (
    <div className="tl-backdrop" role="presentation">
      <div className="tl-grid" aria-hidden="true">
        {scale.breaks.map((b) => {
          const from = percent(scale.at(b.from), view);
          const width = percent(scale.at(b.to), view) - from;
          return <div key={b.from} className="tl-break" style={{ left: `${from}%`, width: `${width}%` }} />;
        })}
        {scale.ticks(view, most).map((t) => (
          <div key={t.at} className="tl-line" style={{ left: `${percent(t.at, view)}%` }} />
        ))}
      </div>
    </div>
  );
}

type Brush = { from: number; to: number };

/** Dragging over the axis zooms to what was dragged over; a double click shows all. */
function useBrush(zoom: Zoom, view: View) {
  const [brush, setBrush] = useState<Brush | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const place = (e: PointerEvent): number => {
    const r = box.current?.getBoundingClientRect() ?? new DOMRect();
    return Math.min(1, Math.max(0, (e.clientX - r.left) / r.width));
  };
  const handlers = {
    onPointerDown(e: PointerEvent<HTMLDivElement>) {
      e.currentTarget.setPointerCapture(e.pointerId);
      setBrush({ from: place(e), to: place(e) });
    },
    onPointerMove(e: PointerEvent) {
      if (brush !== null) setBrush({ ...brush, to: place(e) });
    },
    onPointerUp() {
      if (brush === null) return;
      const [from, to] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)];
      const width = view.to - view.from;
      if (to - from > 0.01) zoom.to({ from: view.from + from * width, to: view.from + to * width });
      setBrush(null);
    },
    onPointerCancel: () => setBrush(null),
    onDoubleClick: () => zoom.fit(),
  };
  return { brush, box, handlers };
}

export function Axis(p: { scale: Scale; view: View; zoom: Zoom; most: number }) {
  const { scale, view } = p;
  const { brush, box, handlers } = useBrush(p.zoom, view);
  const middleOf = (b: Break) => percent((scale.at(b.from) + scale.at(b.to)) / 2, view);
  const inView = scale.breaks.filter((b) => scale.at(b.to) > view.from && scale.at(b.from) < view.to);
  // A time that a cut's label would cover is left out.
  const ticks = scale
    .ticks(view, p.most)
    .filter((t) => percent(t.at, view) < 97)
    .filter((t) => inView.every((b) => Math.abs(middleOf(b) - percent(t.at, view)) > 7));
  return (
    <div
      className="tl-axis"
      ref={box}
      {...handlers}
      title="Drag to zoom in, double click to see all"
      aria-hidden="true"
    >
      {ticks.map((t) => (
        <span key={t.at} className="tl-tick" style={{ left: `${percent(t.at, view)}%` }}>
          {t.label}
        </span>
      ))}
      {inView.map((b) => {
        const middle = middleOf(b);
        return (
          <span
            key={b.from}
            className="tl-cut"
            style={{ left: `clamp(32px, ${middle}%, 100% - 32px)` }}
            title={`${duration(b.to - b.from)} in which nothing ran, cut short`}
          >
            {b.label}
          </span>
        );
      })}
      {brush !== null && (
        <div
          className="tl-brush"
          style={{
            left: `${Math.min(brush.from, brush.to) * 100}%`,
            width: `${Math.abs(brush.to - brush.from) * 100}%`,
          }}
        />
      )}
    </div>
  );
}
