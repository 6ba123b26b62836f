/** A binary heap. Its first entry is the smallest. */
export class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #entries: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  first(): T | undefined {
    return this.#entries[0];
  }

  push(entry: T): void {
    let index = this.#entries.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapUnlessOrdered(parent, index)) return;
      index = parent;
    }
  }

  /** Removes and returns the first entry. */
  pop(): T | undefined {
    const [first] = this.#entries;
    const last = this.#entries.pop();
    if (last === undefined || this.#entries.length === 0) return first;
    this.#entries[0] = last;
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const smaller = this.#isBefore(right, left) ? right : left;
      if (!this.#swapUnlessOrdered(index, smaller)) return first;
      index = smaller;
    }
  }

  #isBefore(index: number, other: number): boolean {
    const [a, b] = [this.#entries[index], this.#entries[other]];
    return a !== undefined && b !== undefined && this.#compare(a, b) < 0;
  }

  #swapUnlessOrdered(upper: number, lower: number): boolean {
    if (!this.#isBefore(lower, upper)) return false;
    const [a, b] = [this.#entries[upper], this.#entries[lower]];
    if (a === undefined || b === undefined) return false;
    this.#entries[upper] = b;
    this.#entries[lower] = a;
    return true;
  }
}
