const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * Limits each caller's requests per minute and per day (docs/partner-api.md#limits). The service's way to count is not
 * shown. Assumed: the last 60 s and 24 h.
 */
export class RateLimiter {
  readonly #limits: readonly { lengthMs: number; most: number }[];
  /** The times of the counted requests by caller, oldest first. */
  readonly #counted = new Map<string, number[]>();

  constructor({ perMinute = 120, perDay = 5_000 }: { perMinute?: number; perDay?: number }) {
    this.#limits = [
      { lengthMs: minuteMs, most: perMinute },
      { lengthMs: dayMs, most: perDay },
    ];
  }

  /** The time until every limit has room for a request; 0 if there is room now. */
  waitMs(caller: string, now: number): number {
    const times = this.#counted.get(caller) ?? [];
    // There is room once the request that fills the limit is older than the window.
    const waits = this.#limits.map(
      ({ lengthMs, most }) => (times.at(-most) ?? Number.NEGATIVE_INFINITY) + lengthMs - now,
    );
    return Math.max(0, ...waits);
  }

  count(caller: string, now: number): void {
    const times = this.#counted.get(caller) ?? [];
    this.#counted.set(caller, times);
    times.push(now);
    const oldest = times.findIndex((time) => time > now - dayMs);
    times.splice(0, oldest);
  }
}
