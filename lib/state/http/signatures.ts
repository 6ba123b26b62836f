import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time what came with a request to what only the secret yields. */
export function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The maximum difference between a request's timestamp and our clock, in either direction. Slack and Standard Webhooks recommend it. */
export const MAX_SKEW_SECONDS = 300;

/** @param timestamp whole seconds, as a header has them @param now epoch milliseconds */
export const isTimely = (timestamp: string, now: number): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - now / 1000) <= MAX_SKEW_SECONDS;
