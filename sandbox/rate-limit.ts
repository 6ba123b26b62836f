/**
 * How the service counts its windows is not shown. 'calendar': calendar minutes and days (UTC). 'first-request': a
 * window opens with the first request after the last one closed. 'sliding': the last 60 s and 24 h.
 */
export const windowModels = ['calendar', 'first-request', 'sliding'] as const;

export type WindowModel = (typeof windowModels)[number];

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

interface Usage {
  /** Times of the counted requests, oldest first. */
  times: number[];
  /** Model 'first-request': where the current window of each limit began. */
  opened: number[];
}

/** Requests per minute and per day, counted per API key (docs/partner-api.md#limits). */
export class RateLimiter {
  readonly #model: WindowModel;
  readonly #limits: readonly { lengthMs: number; most: number }[];
  readonly #usage = new Map<string, Usage>();

  constructor(model: WindowModel = 'sliding', perMinute = 120, perDay = 5_000) {
    this.#model = model;
    this.#limits = [
      { lengthMs: minuteMs, most: perMinute },
      { lengthMs: dayMs, most: perDay },
    ];
  }

  /** How long until every limit has room for a request; 0 if there is room now. */
  waitMs(apiKey: string, now: number): number {
    const { times, opened } = this.#usage.get(apiKey) ?? { times: [], opened: [] };
    const waits = this.#limits.map(({ lengthMs, most }, index) => {
      const start = this.#windowStart(lengthMs, now, opened[index]);
      if (usedSince(times, start) < most) return 0;
      if (this.#model !== 'sliding') return start + lengthMs - now;
      return (times[times.length - most] ?? now) + lengthMs - now;
    });
    return Math.max(...waits);
  }

  count(apiKey: string, now: number): void {
    const { times, opened } = this.#usage.get(apiKey) ?? { times: [], opened: [] };
    this.#usage.set(apiKey, { times, opened });
    this.#limits.forEach(({ lengthMs }, index) => {
      if (now >= (opened[index] ?? Number.NEGATIVE_INFINITY) + lengthMs) opened[index] = now;
    });
    times.push(now);
    const oldest = times.findIndex((time) => time > now - dayMs);
    if (oldest > 0) times.splice(0, oldest);
  }

  /** The earliest time that is inside the window of `now`. */
  #windowStart(lengthMs: number, now: number, opened = Number.NEGATIVE_INFINITY): number {
    if (this.#model === 'calendar') return now - (now % lengthMs);
    if (this.#model === 'sliding') return now - lengthMs + 1;
    return now < opened + lengthMs ? opened : now;
  }
}

function usedSince(times: readonly number[], start: number): number {
  let used = 0;
  while (used < times.length && (times[times.length - 1 - used] ?? start) >= start) used += 1;
  return used;
}
