import type { RequestError } from '@octokit/request-error';

/** A failed request to GitHub that may succeed at the next attempt. */
interface PassingFailure {
  why: string;
  /** When GitHub's rate limit ends, in epoch milliseconds; undefined for other failures. */
  limitedUntil?: number;
}

const WITHOUT_A_TIME_MS = 60_000;

/**
 * Returns why a request failed, if the failure may pass: no answer, a rate limit, or 5xx.
 * @returns undefined for a permanent refusal
 */
export function passingFailure(error: RequestError, now: number): PassingFailure | undefined {
  const { status, message, response } = error;
  // Octokit reports a missing answer as a 500.
  if (!response) return { why: `GitHub did not answer: ${message}` };
  const limitedUntil = rateLimitEnd(status, message, response.headers, now);
  if (limitedUntil !== undefined) return { why: 'GitHub wants fewer requests', limitedUntil };
  return status >= 500 ? { why: `GitHub answered ${status}` } : undefined;
}

/**
 * Returns when a rate limit ends; undefined if the refusal has another cause.
 *
 * @param message GitHub's own words, which may be the only sign of a secondary limit @see
 *   https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
 */
function rateLimitEnd(
  status: number,
  message: string,
  headers: Readonly<Record<string, string | number | undefined>>,
  now: number,
): number | undefined {
  const isSecondary = status === 403 && /secondary rate limit/i.test(message);
  const isLimited =
    status === 429 || isSecondary || headers['x-ratelimit-remaining'] === '0' || Boolean(headers['retry-after']);
  if (!isLimited) return undefined;
  const seconds = Number(headers['retry-after']);
  if (seconds > 0) return now + seconds * 1000;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return reset > now ? reset : now + WITHOUT_A_TIME_MS;
}
