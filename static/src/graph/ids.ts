/** Readable ids: "approval", "approval-2". */

const pattern = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;
const maxLength = 100;

/** A base for ids out of any text: "Legal review!" → "legal-review". */
export function slug(text: string): string {
  const s = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  return s.slice(0, maxLength - 8) || "step";
}

/** The base itself, or with the first free number. */
export function freeId(base: string, taken: ReadonlySet<string>): string {
  const stem = base.replace(/-\d+$/, "");
  if (!taken.has(base)) return base;
  for (let n = 2; ; n++) {
    const id = `${stem}-${n}`;
    if (!taken.has(id)) return id;
  }
}

/** Why a text can't be the id of a step, or null. */
export function whyNotId(id: string, taken: ReadonlySet<string>): string | null {
  if (id === "") return "A step needs an id";
  if (id.length > maxLength) return `At most ${maxLength} characters`;
  if (!pattern.test(id)) return "Letters, digits, dash and underscore only";
  if (taken.has(id)) return "Another step has this id";
  return null;
}
