import * as z from 'zod/mini';
import { callsBetween, MINUTE, type Window } from './window.ts';

/** The assumed part of the observed rate. It is below 1 because other users of the key do not call evenly. */
const PART_OF_SERVED = 0.95;
/** The lowest part of the limit that one 429 can lead to, because a single 429 may have another reason. */
const LOWEST_PART = 0.5;
/** With fewer calls in the minute, a 429 says nothing about the limit of the minute. */
const LEAST_SERVED_PART = 0.1;
/** How long an assumed limit stays as it is before it grows again. Each 429 during the growth doubles this time. */
const HOLD_MS = { first: 8 * MINUTE, longest: 64 * MINUTE };
const GROWTH_A_MINUTE = 1.05;
/** 429s within this time have the same cause. */
const SAME_CAUSE_MS = MINUTE;

const count = z.int().check(z.gte(0));

export const assumedLimit = z.object({
  /** Calls a minute. */
  perMinute: z.int().check(z.gte(1)),
  /** When a 429 led to this limit; epoch milliseconds. */
  at: count,
  /** After this time, the limit grows again slowly. */
  holdMs: count.check(z.lte(HOLD_MS.longest)),
});

/**
 * The calls that the service seems to allow in a minute. It refuses calls below the configured limit if other software
 * uses the key, or if the real limit is lower.
 */
export type AssumedLimit = z.output<typeof assumedLimit>;

/** Returns the calls of a minute that the service is assumed to allow now. */
export function assumedPerMinute(assumed: AssumedLimit | undefined, configured: number, now: number): number {
  if (!assumed) return configured;
  const growing = Math.max(0, Math.floor((now - assumed.at - assumed.holdMs) / MINUTE));
  const grown = Math.max(assumed.perMinute + growing, assumed.perMinute * GROWTH_A_MINUTE ** growing);
  return Math.max(1, Math.min(configured, Math.floor(grown)));
}

/**
 * Returns the limit that a 429 shows.
 * @param minute the calls that count: those that were answered by `now`
 * @returns undefined if the 429 shows nothing new
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
