/** How long the record of a job is kept after its end. */
export const LIFETIME_MS = 30 * 86_400_000;

/**
 * The `expiresAt` of an item, in seconds since the epoch as DynamoDB's time to live needs it. Items of work in progress
 * have none: a job gets it with its journal when it ends, and is kept for 30 days so that a late redelivery still finds
 * what it made.
 */
export function expiry(now: number, keptForMs = LIFETIME_MS): number {
  return Math.floor((now + keptForMs) / 1000);
}

/** DynamoDB removes an expired item within days. Until then, readers treat it as removed. */
export function isExpired(item: { expiresAt?: unknown }, now: number): boolean {
  return item.expiresAt !== undefined && Number(item.expiresAt) * 1000 <= now;
}
