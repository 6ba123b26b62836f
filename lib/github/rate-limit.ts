/** An answer of GitHub's REST API, as far as its rate limits are concerned. */
export interface LimitedAnswer {
  status: number;
  /** GitHub's own words, for a secondary limit may be told by nothing else. */
  message: string;
  /** With lowercase names. */
  headers: Readonly<Record<string, string | number | undefined>>;
}

const WITHOUT_A_TIME_MS = 60_000;

/**
 * When a refusal for a rate limit ends, in epoch milliseconds; undefined for one of another kind.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
 */
export function rateLimitEnd({ status, message, headers }: LimitedAnswer, now: number): number | undefined {
  const isSecondary = status === 403 && /secondary rate limit/i.test(message);
  const isLimited =
    status === 429 || isSecondary || headers['x-ratelimit-remaining'] === '0' || Boolean(headers['retry-after']);
  if (!isLimited) return undefined;
  const seconds = Number(headers['retry-after']);
  if (seconds > 0) return now + seconds * 1000;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return reset > now ? reset : now + WITHOUT_A_TIME_MS;
}
