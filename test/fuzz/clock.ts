/** A clock that moves only when something waits, and the actions for later times. */
export class VirtualClock {
  /** Epoch milliseconds. */
  now: number;
  #later: { at: number; act: () => Promise<void> }[] = [];

  constructor(now: number) {
    this.now = now;
  }

  later(ms: number, act: () => Promise<void>): void {
    this.#later.push({ at: this.now + ms, act });
    this.#later.sort((a, b) => a.at - b.at);
  }

  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (let next = this.#later[0]; next && next.at <= end; next = this.#later[0]) {
      this.#later.shift();
      this.now = Math.max(this.now, next.at);
      await next.act();
    }
    this.now = Math.max(this.now, end);
  }

  /** Whether an action remains. */
  get hasMore(): boolean {
    return this.#later.length > 0;
  }
}
