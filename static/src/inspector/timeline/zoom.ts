/** Zooming and moving along the time axis. */

import { type RefObject, useEffect, useRef } from "react";
import type { Inspector } from "../inspector";
import { everything, moved, type Scale, type View, zoomed } from "../model/scale";

export type Zoom = {
  by(factor: number, around?: number): void;
  move(by: number): void;
  fit(): void;
  to(view: View): void;
  whole: boolean;
};

/**
 * The view is kept as times, not as places: what is looked at stays in view while a
 * run goes on and the axis grows.
 */
export function useZoom(i: Inspector, scale: Scale, view: View, box: RefObject<HTMLElement | null>): Zoom {
  const to = (next: View) => {
    const whole = next.to - next.from >= 0.999;
    i.ui.set({ zoom: whole ? null : { from: scale.timeAt(next.from), to: scale.timeAt(next.to) } });
  };
  const zoom: Zoom = {
    to,
    by: (factor, around = 0.5) => to(zoomed(view, factor, around)),
    move: (by) => to(moved(view, by * (view.to - view.from))),
    fit: () => to(everything),
    whole: view.to - view.from >= 0.999,
  };
  useWheel(zoom, box);
  return zoom;
}

/** Ctrl and the wheel (or a pinch) zooms at the pointer; sideways moves. */
function useWheel(zoom: Zoom, box: RefObject<HTMLElement | null>): void {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const el = box.current;
    if (el === null) return;
    const wheel = (e: WheelEvent) => {
      const bars = el.querySelector(".tl-grid")?.getBoundingClientRect();
      if (bars === undefined || e.clientX < bars.left) return;
      const sideways = e.shiftKey ? e.deltaY : e.deltaX;
      if (e.ctrlKey || e.metaKey) {
        latest.current.by(Math.exp(-e.deltaY / 200), (e.clientX - bars.left) / bars.width);
      } else if (Math.abs(sideways) > Math.abs(e.shiftKey ? e.deltaX : e.deltaY)) {
        latest.current.move(sideways / bars.width);
      } else return;
      e.preventDefault();
    };
    el.addEventListener("wheel", wheel, { passive: false });
    return () => el.removeEventListener("wheel", wheel);
  }, [box]);
}
