/** JSON off the wire: numbers keep their text (graph/json), at the speed of the browser's own parser. */

import { type Json, parse, RawNumber } from "../graph/json";

type Context = { source?: string };
type Reviver = (key: string, value: unknown, context?: Context) => unknown;

/** Browsers since 2023 hand a reviver the text of the value that it sees. */
const nativeSource = (() => {
  let seen = false;
  const probe: Reviver = (_key, value, context) => {
    seen = context?.source === "1";
    return value;
  };
  JSON.parse("1", probe);
  return seen;
})();

const keepNumbers: Reviver = (_key, value, context) =>
  typeof value === "number" && context?.source !== undefined && String(value) !== context.source
    ? new RawNumber(context.source)
    : value;

/** Reads a JSON text. Throws on text that is none. */
export function parseExact(text: string): Json {
  return nativeSource ? (JSON.parse(text, keepNumbers) as Json) : parse(text);
}
