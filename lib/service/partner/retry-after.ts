const DAY_SECONDS = 86_400;

/**
 * Reads the wait in a `Retry-After` header: seconds or an HTTP date (RFC 9110, 10.2.3), at most a day. Without this
 * limit, one wrong header could stop a connection for years.
 *
 * Some servers send a time in epoch seconds or milliseconds. A number within a day of now is read as that time. Any
 * other number over a day counts as a day.
 *
 * @param now epoch milliseconds
 * @returns seconds, or null if the header is missing or unreadable
 */
export function readRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? fromNumber(Number(text), now) : fromDate(text, now);
  return seconds === null ? null : Math.min(Math.max(0, Math.ceil(seconds)), DAY_SECONDS);
}

function fromNumber(number: number, now: number): number {
  const moments = [number - now / 1000, (number - now) / 1000];
  return moments.find((seconds) => Math.abs(seconds) <= DAY_SECONDS) ?? number;
}

/** Reads an HTTP date, which begins with a day of the week. `Date.parse` alone would accept almost anything. */
function fromDate(text: string, now: number): number | null {
  const until = /^[a-z]{3,9},/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(until) ? null : (until - now) / 1000;
}
