import { setImmediate } from 'node:timers/promises';

/** A number from 0 and below 1, the next of a sequence that a seed settles (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Timer {
  at: number;
  order: number;
  ring: () => void;
}

/**
 * Time that only passes when everybody waits for it. Whoever does something real, such as asking a database, does it
 * in no time.
 */
export class VirtualTime {
  now: number;
  /** A heap: no timer is before its parent. */
  readonly #timers: Timer[] = [];
  #order = 0;
  #real = 0;
  #realEnded = () => {};

  constructor(now: number) {
    this.now = now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#add({ at: this.now + Math.max(0, ms), order: this.#order++, ring: resolve }));
  }

  /** Lets something happen that takes real time. */
  async real<T>(act: () => Promise<T>): Promise<T> {
    this.#real++;
    try {
      return await act();
    } finally {
      this.#real--;
      if (this.#real === 0) this.#realEnded();
    }
  }

  /** Lets time pass until then. */
  async passUntil(end: number): Promise<void> {
    for (;;) {
      await setImmediate();
      if (this.#real > 0) {
        await new Promise<void>((resolve) => {
          this.#realEnded = resolve;
        });
        continue;
      }
      const next = this.#timers[0];
      if (!next || next.at > end) break;
      this.#removeFirst();
      this.now = next.at;
      next.ring();
    }
    this.now = end;
  }

  #add(timer: Timer): void {
    let place = this.#timers.push(timer) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#swapUnlessOrdered(parent, place)) break;
      place = parent;
    }
  }

  #removeFirst(): void {
    const last = this.#timers.pop();
    if (!last || this.#timers.length === 0) return;
    this.#timers[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const child = this.#isBefore(right, left) ? right : left;
      if (!this.#swapUnlessOrdered(place, child)) break;
      place = child;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#timers[one], this.#timers[other]];
    return a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order));
  }

  #swapUnlessOrdered(parent: number, child: number): boolean {
    const [a, b] = [this.#timers[parent], this.#timers[child]];
    if (!a || !b || !this.#isBefore(child, parent)) return false;
    this.#timers[parent] = b;
    this.#timers[child] = a;
    return true;
  }
}
