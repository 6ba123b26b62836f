import * as z from 'zod/mini';
import { callsBetween, MINUTE, type Window } from './window.ts';

/** The part of the observed rate that is assumed, because other users of the key do not call evenly. */
const PART_OF_SERVED = 0.95;
/** A single 429 may have another reason, so it lowers the limit to this part at most. */
const LOWEST_PART = 0.5;
/** With fewer calls in the minute, a 429 says nothing about the limit of the minute. */
const LEAST_SERVED_PART = 0.1;
/** Each 429 that comes while the limit grows doubles the time until it grows again. */
const HOLD_MS = { first: 8 * MINUTE, longest: 64 * MINUTE };
const GROWTH_A_MINUTE = 1.05;
/** 429s within this time have the same cause. */
const SAME_CAUSE_MS = MINUTE;

const count = z.int().check(z.gte(0));

export const assumedLimit = z.object({
  /** Calls a minute. */
  perMinute: z.int().check(z.gte(1)),
  /** When it was learned from a 429; epoch milliseconds. */
  at: count,
  /** After this time the limit grows again, slowly. */
  holdMs: count.check(z.lte(HOLD_MS.longest)),
});

/**
 * What the service seems to allow in a minute. It refuses calls before the configured limit is reached if other software
 * uses the key, or if the real limit is lower.
 */
export type AssumedLimit = z.output<typeof assumedLimit>;

/** The calls of a minute that are assumed to be allowed now. */
export function assumedPerMinute(assumed: AssumedLimit | undefined, configured: number, now: number): number {
  if (!assumed) return configured;
  const growing = Math.max(0, Math.floor((now - assumed.at - assumed.holdMs) / MINUTE));
  const grown = Math.max(assumed.perMinute + growing, assumed.perMinute * GROWTH_A_MINUTE ** growing);
  return Math.max(1, Math.min(configured, Math.floor(grown)));
}

/**
 * What a 429 says about the limit.
 *
 * @param minute the calls that count, those that were answered no later than `now`
 * @returns undefined if it says nothing new
 */
export function learn(
  last: AssumedLimit | undefined,
  minute: Window,
  configured: number,
  now: number,
): AssumedLimit | undefined {
  if (last && now < last.at + SAME_CAUSE_MS) return undefined;
  const before = assumedPerMinute(last, configured, now);
  const served = callsBetween(minute, now - MINUTE, now);
  if (served < before * LEAST_SERVED_PART) return undefined;
  const perMinute = Math.floor(Math.max(before * LOWEST_PART, Math.min(served, before) * PART_OF_SERVED));
  const wasHeldBack = last !== undefined && before < configured;
  const holdMs = wasHeldBack ? Math.min(HOLD_MS.longest, 2 * last.holdMs) : HOLD_MS.first;
  return { perMinute: Math.max(1, perMinute), at: now, holdMs };
}
