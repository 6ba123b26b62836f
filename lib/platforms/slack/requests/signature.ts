import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The maximum difference between a request's timestamp and our clock, in either direction. Slack recommends five
 * minutes.
 */
export const MAX_SKEW_SECONDS = 300;

/**
 * Verifies in constant time that `X-Slack-Signature` is the signature of these bytes and this timestamp.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 *
 * @param timestamp the value of `X-Slack-Request-Timestamp`
 */
export function isSignedBySlack(body: Uint8Array, timestamp: string, signature: string, secret: string): boolean {
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  const given = Buffer.from(signature, 'utf8');
  const expected = Buffer.from(`v0=${digest}`, 'utf8');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** True if the timestamp is whole seconds and close enough to now (epoch milliseconds) to rule out a replay. */
export function isTimely(timestamp: string, now: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - now / 1000) <= MAX_SKEW_SECONDS;
}
