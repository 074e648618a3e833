/** Times, durations and amounts as people read them. */

/** A duration in at most two units: "320 ms", "4.2 s", "3 m 07 s", "2 d 4 h". */
export function duration(ms: number): string {
  if (Number.isNaN(ms)) return "";
  if (ms < 0) return "0 ms";
  if (ms < 1) return "<1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 10) / 100).toFixed(2)} s`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const s = Math.floor(ms / 1_000);
  if (s < 3_600) return pair(Math.floor(s / 60), "m", s % 60, "s");
  if (s < 86_400) return pair(Math.floor(s / 3_600), "h", Math.floor((s % 3_600) / 60), "m");
  return pair(Math.floor(s / 86_400), "d", Math.floor((s % 86_400) / 3_600), "h");
}

function pair(a: number, unit: string, b: number, small: string): string {
  return `${a} ${unit} ${String(b).padStart(2, "0")} ${small}`;
}

/** A duration that ticks: no more digits than can be followed by eye. */
export function ticking(ms: number): string {
  if (Number.isNaN(ms)) return "";
  if (ms < 60_000) return `${(Math.max(0, Math.floor(ms / 100)) / 10).toFixed(1)} s`;
  return duration(ms);
}

/** A time of day, with the day when it is another than today's. */
export function moment(ms: number, now = Date.now()): string {
  if (Number.isNaN(ms)) return "";
  const d = new Date(ms);
  const time = d.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  if (d.toDateString() === new Date(now).toDateString()) return time;
  return `${d.toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" })}, ${time}`;
}

/** A time to the millisecond, in UTC, as logs have it. */
export function exact(ms: number): string {
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}

/** How long ago, or until when: "2 m ago", "in 5 s". */
export function relative(ms: number, now: number): string {
  if (Number.isNaN(ms)) return "";
  const rounded = Math.round(Math.abs(now - ms) / 1_000) * 1_000;
  const text = rounded < 1_000 ? "now" : duration(rounded).replace(/\.0+ s$/, " s");
  if (text === "now") return text;
  return ms > now ? `in ${text}` : `${text} ago`;
}

const plain = new Intl.NumberFormat("en");

export function amount(n: number): string {
  return plain.format(n);
}

/** Millionths of a dollar: small sums keep two significant digits. */
export function cost(micros: number): string {
  if (micros === 0) return "";
  const usd = micros / 1_000_000;
  return `$${usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${amount(n)} ${n === 1 ? one : many}`;
}

export function bytes(n: number): string {
  if (n < 1_000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1_000).toFixed(n < 10_000 ? 1 : 0)} kB`;
  return `${(n / 1_000_000).toFixed(1)} MB`;
}
