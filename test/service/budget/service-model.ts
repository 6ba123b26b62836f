/**
 * The ways in which a service may count: by the clock, from a window's first request, or all requests that are newer
 * than a window.
 */
export const countings = ['calendar', 'first request', 'sliding'] as const;
export type Counting = (typeof countings)[number];

/** A service that counts requests in windows of several lengths, and refuses requests beyond its limits. */
export class ServiceModel {
  readonly #windows: Window[];

  constructor(counting: Counting, limits: readonly { lengthMs: number; most: number }[]) {
    this.#windows = limits.map(({ lengthMs, most }) => new Window(counting, lengthMs, most));
  }

  /** @returns whether the request is accepted. Refused requests count, too, as at most services */
  request(at: number): boolean {
    return this.#windows.map((window) => window.count(at)).every((served) => served);
  }
}

class Window {
  readonly #counting: Counting;
  readonly #lengthMs: number;
  readonly #most: number;
  #counted: number[] = [];
  #start = Number.NEGATIVE_INFINITY;

  constructor(counting: Counting, lengthMs: number, most: number) {
    this.#counting = counting;
    this.#lengthMs = lengthMs;
    this.#most = most;
  }

  count(at: number): boolean {
    if (this.#counting === 'sliding') {
      const gone = this.#counted.findIndex((earlier) => at - earlier < this.#lengthMs);
      this.#counted.splice(0, gone < 0 ? this.#counted.length : gone);
    } else if (at - this.#start >= this.#lengthMs) {
      this.#start = this.#counting === 'calendar' ? Math.floor(at / this.#lengthMs) * this.#lengthMs : at;
      this.#counted = [];
    }
    this.#counted.push(at);
    return this.#counted.length <= this.#most;
  }
}
