/** How long the record of a job is kept after its end. */
export const LIFETIME_MS = 30 * 86_400_000;

/**
 * Returns the `expiresAt` of an item, in seconds since the epoch, as DynamoDB's time to live requires. Items of work in
 * progress have none. A job and its journal get it at the end of the job, and are kept for 30 days, so that a late
 * redelivery finds what the job created.
 */
export function expiry(now: number, keptForMs = LIFETIME_MS): number {
  return Math.floor((now + keptForMs) / 1000);
}

/** True for an expired item. DynamoDB removes it within days; until then, readers treat it as removed. */
export function isExpired(item: { expiresAt?: unknown }, now: number): boolean {
  return item.expiresAt !== undefined && Number(item.expiresAt) * 1000 <= now;
}
