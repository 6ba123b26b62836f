import type { Item } from './table.ts';

const LIFETIME_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * The `expiresAt` of what is kept for 30 days, in seconds since the epoch as DynamoDB's time to live wants it. What is
 * under way has none: a job gets it with its journal when it ends, and is kept that long so that a late redelivery still
 * finds what it made.
 */
export function expiry(now: number): number {
  return Math.floor((now + LIFETIME_DAYS * DAY_MS) / 1000);
}

/** Time to live removes an item within days; until then it is as good as gone. */
export function isExpired(item: Item, now: number): boolean {
  return item.expiresAt !== undefined && Number(item.expiresAt) * 1000 <= now;
}
