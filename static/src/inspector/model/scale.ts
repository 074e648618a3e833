/** The time axis: where on it a moment lies. */

import type { Interval } from "./bar";
import { duration } from "./format";

export type Break = Interval & { label: string };
export type Tick = { at: number; label: string };

/** The part of the axis in view, as fractions of all of it. */
export type View = { from: number; to: number };

export const everything: View = { from: 0, to: 1 };

/** Waits shorter than this are drawn as they are. */
const shortestBreak = 5_000;
/** A wait is cut when it is longer than all the work, and then takes this part of its place. */
const cutTo = 0.08;

/**
 * Maps times to fractions from 0 to 1. A run that worked for four seconds and waited
 * two days for an approval would show nothing but the wait; such waits are cut short.
 */
export class Scale {
  private readonly times: number[] = [];
  private readonly places: number[] = [];
  readonly breaks: readonly Break[];

  constructor(
    readonly range: Interval,
    busy: readonly Interval[] = [],
  ) {
    this.breaks = breaksIn(range, busy);
    const cut = this.breaks.reduce((sum, b) => sum + b.to - b.from, 0);
    const short = (range.to - range.from - cut) * cutTo || 1;
    let place = 0;
    let time = range.from;
    this.add(time, 0);
    for (const b of this.breaks) {
      place += b.from - time;
      this.add(b.from, place);
      place += short;
      this.add(b.to, place);
      time = b.to;
    }
    place += range.to - time;
    this.add(range.to, place);
    for (const [i, p] of this.places.entries()) this.places[i] = place === 0 ? 0 : p / place;
  }

  private add(time: number, place: number): void {
    this.times.push(time);
    this.places.push(place);
  }

  /** The place of a time; beyond the ends it is below 0 or over 1. */
  at(time: number): number {
    return interpolate(this.times, this.places, time);
  }

  timeAt(place: number): number {
    return interpolate(this.places, this.times, place);
  }

  /** Round times in view, at least 1/most of it apart, told from the start of the run. */
  ticks(view: View, most: number): Tick[] {
    const [from, to] = [this.timeAt(view.from), this.timeAt(view.to)];
    const hidden = this.breaks.reduce((sum, b) => {
      return sum + Math.max(0, Math.min(to, b.to) - Math.max(from, b.from));
    }, 0);
    const step = niceStep((to - from - hidden) / most);
    const out: Tick[] = [];
    let last = Number.NEGATIVE_INFINITY;
    const apart = (view.to - view.from) / most / 1.5;
    for (let t = Math.ceil((from - this.range.from) / step) * step; t <= to - this.range.from; t += step) {
      const time = t + this.range.from;
      const inside = this.breaks.find((b) => time > b.from && time < b.to);
      if (inside !== undefined) {
        t = Math.floor((inside.to - this.range.from) / step) * step;
        continue;
      }
      const at = this.at(time);
      if (at - last < apart) continue;
      last = at;
      out.push({ at, label: tickLabel(t, step) });
    }
    return out;
  }
}

function breaksIn(range: Interval, busy: readonly Interval[]): Break[] {
  if (busy.length === 0) return [];
  const work = busy.reduce((sum, b) => sum + b.to - b.from, 0);
  const limit = Math.max(shortestBreak, work);
  const out: Break[] = [];
  let from = range.from;
  for (const b of [...busy, { from: range.to, to: range.to }]) {
    if (b.from - from > limit) out.push({ from, to: b.from, label: duration(b.from - from) });
    from = Math.max(from, b.to);
  }
  return out;
}

/** Piecewise linear, going on straight beyond the ends. */
function interpolate(xs: readonly number[], ys: readonly number[], x: number): number {
  let [low, high] = [0, xs.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) <= x) low = middle;
    else high = middle;
  }
  const [x0, x1, y0, y1] = [xs[low] ?? 0, xs[high] ?? 1, ys[low] ?? 0, ys[high] ?? 1];
  return x1 === x0 ? y0 : y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

const s = 1_000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1 * s, 2 * s, 5 * s, 10 * s, 20 * s, 30 * s],
  ...[1 * m, 2 * m, 5 * m, 10 * m, 20 * m, 30 * m],
  ...[1 * h, 2 * h, 6 * h, 12 * h, 1 * d, 2 * d, 7 * d, 30 * d, 90 * d, 365 * d],
];

function niceStep(least: number): number {
  return steps.find((x) => x >= least) ?? 365 * d * Math.ceil(least / (365 * d));
}

function tickLabel(t: number, step: number): string {
  if (t === 0) return "0";
  if (step < s && t < 10 * s) return t < s ? `${t} ms` : `${(t / s).toFixed(step < 100 ? 2 : 1)} s`;
  if (t < m) return `${step < s ? (t / s).toFixed(1) : Math.round(t / s)} s`;
  if (t < h)
    return step < m
      ? `${Math.floor(t / m)}:${String(Math.round((t % m) / s)).padStart(2, "0")}`
      : `${Math.round(t / m)} m`;
  if (t < d)
    return step < h ? `${Math.floor(t / h)} h ${Math.round((t % h) / m)} m` : `${Math.round(t / h)} h`;
  return step < d ? `${Math.floor(t / d)} d ${Math.round((t % d) / h)} h` : `${Math.round(t / d)} d`;
}

/** The narrowest view; narrower than this nothing more can be told apart. */
const narrowest = 1e-5;

/** Zooms by a factor, keeping the place under the pointer where it is. */
export function zoomed(view: View, factor: number, around = 0.5): View {
  const width = view.to - view.from;
  const next = Math.min(1, Math.max(narrowest, width / factor));
  const fixed = view.from + width * around;
  return moved({ from: fixed - next * around, to: fixed + next * (1 - around) }, 0);
}

/** Moves the view, which stays within the axis. */
export function moved(view: View, by: number): View {
  const width = Math.min(1, view.to - view.from);
  const from = Math.min(1 - width, Math.max(0, view.from + by));
  return { from, to: from + width };
}
