/** How long to wait before the next try to connect. */

const firstMS = 500;
const mostMS = 20_000;

/**
 * Doubles from half a second to 20 seconds, and takes a random part between half
 * and all of it: a server that comes back is not met by everybody at once.
 */
export function backoff(failures: number, random: () => number = Math.random): number {
  const full = Math.min(mostMS, firstMS * 2 ** Math.min(failures, 10));
  return full / 2 + (full / 2) * random();
}
