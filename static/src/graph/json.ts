/**
 * JSON that loses nothing. A workflow may hold numbers that a double can't:
 * 9007199254740993, 1.0, 1e400. Read with JSON.parse they come back changed, and
 * saving a label would corrupt a price. Such numbers are kept as written.
 */

/** A number whose text a double does not reproduce. */
export class RawNumber {
  constructor(readonly source: string) {}

  /** For arithmetic and display only: may be rounded. */
  valueOf(): number {
    return Number(this.source);
  }

  toString(): string {
    return this.source;
  }
}

export type Json = null | boolean | number | string | RawNumber | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isObject(v: Json | undefined): v is JsonObject {
  return typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof RawNumber);
}

export function isNumber(v: Json | undefined): v is number | RawNumber {
  return typeof v === "number" || v instanceof RawNumber;
}

/** Where and why a text is no JSON. Offsets count UTF-16 units. */
export class JsonError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const maxDepth = 500;

class Parser {
  private at = 0;
  constructor(private readonly text: string) {}

  document(): Json {
    const v = this.value(0);
    this.space();
    if (this.at < this.text.length) throw this.error("unexpected text after the value");
    return v;
  }

  private value(depth: number): Json {
    if (depth > maxDepth) throw this.error("nested too deeply");
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      case undefined:
        throw this.error("unexpected end");
      default:
        return this.number();
    }
  }

  private object(depth: number): JsonObject {
    const out: JsonObject = {};
    this.at++;
    this.space();
    if (this.take("}")) return out;
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') throw this.error("expected a quoted key");
      const key = this.string();
      this.space();
      if (!this.take(":")) throw this.error("expected a colon");
      const value = this.value(depth + 1);
      // A plain assignment to "__proto__" would set the prototype.
      Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
      this.space();
      if (this.take("}")) return out;
      if (!this.take(",")) throw this.error("expected a comma or }");
    }
  }

  private array(depth: number): Json[] {
    const out: Json[] = [];
    this.at++;
    this.space();
    if (this.take("]")) return out;
    for (;;) {
      out.push(this.value(depth + 1));
      this.space();
      if (this.take("]")) return out;
      if (!this.take(",")) throw this.error("expected a comma or ]");
    }
  }

  private string(): string {
    const start = this.at++;
    while (this.at < this.text.length && this.text[this.at] !== '"') {
      if (this.text[this.at] === "\\") this.at++;
      this.at++;
    }
    this.at++;
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
    } catch {
      this.at = start;
      throw this.error("the string is not closed or holds a bad escape");
    }
  }

  private number(): number | RawNumber {
    numberPattern.lastIndex = this.at;
    const m = numberPattern.exec(this.text);
    if (m === null) throw this.error("expected a value");
    this.at += m[0].length;
    const n = Number(m[0]);
    return String(n) === m[0] ? n : new RawNumber(m[0]);
  }

  private word<T extends Json>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.error("expected a value");
    this.at += word.length;
    return value;
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private space(): void {
    while (/[ \t\n\r]/.test(this.text[this.at] ?? "")) this.at++;
  }

  private error(message: string): JsonError {
    const before = this.text.slice(0, this.at).split("\n");
    const column = (before[before.length - 1] ?? "").length + 1;
    return new JsonError(`line ${before.length}, column ${column}: ${message}`, this.at);
  }
}

/** Reads a JSON text. Throws JsonError. */
export function parse(text: string): Json {
  return new Parser(text).document();
}

/** Reads a JSON text; undefined for other text. */
export function tryParse(v: string): Json | undefined {
  try {
    return parse(v);
  } catch {
    return undefined;
  }
}

/** Writes a value with the given indentation; 0 gives one line. */
export function stringify(v: Json | undefined, indent = 0): string {
  return write(v ?? null, indent, "\n");
}

function write(v: Json, indent: number, newline: string): string {
  if (v instanceof RawNumber) return v.source;
  if (typeof v !== "object" || v === null) return JSON.stringify(v);
  const inner = newline + " ".repeat(indent);
  const [open, gap, close] = indent > 0 ? [inner, " ", newline] : ["", "", ""];
  const separator = `,${open}`;
  if (Array.isArray(v)) {
    if (v.length === 0) return "[]";
    return `[${open}${v.map((x) => write(x, indent, inner)).join(separator)}${close}]`;
  }
  const keys = Object.keys(v);
  if (keys.length === 0) return "{}";
  const fields = keys.map((k) => `${JSON.stringify(k)}:${gap}${write(v[k] ?? null, indent, inner)}`);
  return `{${open}${fields.join(separator)}${close}}`;
}

/** Deep equality; the order of keys does not count. */
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a instanceof RawNumber || b instanceof RawNumber)
    return String(a) === String(b) && isNumber(a) && isNumber(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => equal(x, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((k) => k in b && equal(a[k], b[k]));
  }
  return false;
}

/** The string at a key, or "". */
export function text(o: JsonObject | undefined, key: string): string {
  const v = o?.[key];
  return typeof v === "string" ? v : "";
}

/** The object at a key, or undefined. */
export function child(o: JsonObject | undefined, key: string): JsonObject | undefined {
  const v = o?.[key];
  return isObject(v) ? v : undefined;
}

/** The array at a key, or empty. */
export function list(o: JsonObject | undefined, key: string): Json[] {
  const v = o?.[key];
  return Array.isArray(v) ? v : [];
}
