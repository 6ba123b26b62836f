import type { Attempt } from './redelivery-attempt.ts';
import type { FailedDelivery } from './redelivery-store.ts';

/**
 * For so long GitHub delivers something again.
 * https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
 */
export const KEPT_FOR_MS = 3 * 86_400_000;

/** How often GitHub is asked to deliver something again. */
const MAX_ASKED = 5;
/** Shorter than the time between two runs, and long enough for an attempt to be made and listed. */
const SETTLED_AFTER_MS = 10 * 60_000;
/** Between the first time that it is asked for and the second; four times as long after each, a day in all. */
const FIRST_PAUSE_MS = 15 * 60_000;

/** What we refuse for good: the same bytes would be refused again. */
const REFUSALS = new Set([400, 401, 413]);

/** What an attempt says about its delivery. */
export function resultOf({ statusCode }: Attempt): 'delivered' | 'refused' | 'failed' {
  if (statusCode >= 200 && statusCode < 300) return 'delivered';
  return REFUSALS.has(statusCode) ? 'refused' : 'failed';
}

/**
 * What is to be done about a failed delivery. Where we are up and it fails all the same, it is asked for at the next
 * run. While nothing gets through, the five times are spread over a day, or an outage would use them up for nothing.
 *
 * @param gotThroughAt when anything was last delivered by that hook, in epoch milliseconds
 */
export function whatToDo(
  { attemptedAt, asked, askedAt }: FailedDelivery,
  gotThroughAt: number,
  now: number,
): 'ask' | 'wait' | 'give up' {
  if (attemptedAt < now - KEPT_FOR_MS) return 'give up';
  if (asked === 0) return 'ask';
  if (now - askedAt < SETTLED_AFTER_MS) return 'wait';
  if (asked >= MAX_ASKED) return 'give up';
  return gotThroughAt > askedAt || now - askedAt >= FIRST_PAUSE_MS * 4 ** (asked - 1) ? 'ask' : 'wait';
}
