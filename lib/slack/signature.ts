import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far a request's timestamp may be from our clock, either way; Slack asks for five minutes. */
export const MAX_SKEW_SECONDS = 300;

/**
 * Whether `X-Slack-Signature` is the signature of these bytes at that time under the secret, in constant time.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 *
 * @param timestamp as it stands in `X-Slack-Request-Timestamp`
 */
export function isSignedBySlack(body: Uint8Array, timestamp: string, signature: string, secret: string): boolean {
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  const given = Buffer.from(signature, 'utf8');
  const expected = Buffer.from(`v0=${digest}`, 'utf8');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Whether the timestamp is whole seconds, and near enough to now (epoch milliseconds) that nobody replays the request. */
export function isTimely(timestamp: string, now: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - now / 1000) <= MAX_SKEW_SECONDS;
}
