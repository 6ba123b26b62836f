import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time a text from a request with the text that only the secret gives. */
export function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The maximum difference between a request's timestamp and our clock, in either direction. Recommended by Slack and
 * Standard Webhooks.
 */
export const MAX_SKEW_SECONDS = 300;

/** Reads the time in a header. Returns NaN for a text that is not a whole number, or has no time zone. */
const MS_OF = {
  s: (text: string) => (/^\d{1,12}$/.test(text) ? Number(text) * 1000 : Number.NaN),
  ms: (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN),
  iso: (text: string) => (/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN),
};

/** @param now epoch milliseconds */
export const isTimely = (timestamp: string, now: number, unit: keyof typeof MS_OF = 's'): boolean =>
  Math.abs(MS_OF[unit](timestamp) - now) <= MAX_SKEW_SECONDS * 1000;
