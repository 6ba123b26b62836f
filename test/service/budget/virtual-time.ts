import { setImmediate } from 'node:timers/promises';

/** Returns the next number of a seeded sequence, from 0 and below 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Time that passes only when everything waits for it. */
export class VirtualTime {
  now: number;
  /** Sorted so that the last one rings first. */
  readonly #timers: { at: number; ring: () => void }[] = [];

  constructor(now: number) {
    this.now = now;
  }

  sleep(ms: number): Promise<void> {
    const at = this.now + Math.max(0, ms);
    let [from, to] = [0, this.#timers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#timers[middle]?.at ?? 0) > at) from = middle + 1;
      else to = middle;
    }
    return new Promise((ring) => void this.#timers.splice(from, 0, { at, ring }));
  }

  /** Lets time pass until then. */
  async passUntil(end: number): Promise<void> {
    for (;;) {
      await setImmediate();
      const next = this.#timers.at(-1);
      if (!next || next.at > end) break;
      this.#timers.pop();
      this.now = next.at;
      next.ring();
    }
    this.now = end;
  }
}
