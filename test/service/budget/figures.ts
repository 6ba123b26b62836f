/** The value that this part of the values does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

/**
 * The most calls that the service could have counted in any window of this length, if it counted each at the worst
 * moment between its sending and its answer.
 */
export function mostWithin(calls: readonly { sentAt: number; answeredAt: number }[], windowMs: number): number {
  // A window that begins at x can contain a call that was sent before x + windowMs and answered at x or later.
  const changes = calls.flatMap(({ sentAt, answeredAt }) => [
    { at: sentAt - windowMs, isStart: true },
    { at: answeredAt, isStart: false },
  ]);
  // At equal times, the end comes first: x would have to be after the one and not after the other.
  changes.sort((a, b) => a.at - b.at || Number(a.isStart) - Number(b.isStart));
  let now = 0;
  let most = 0;
  for (const { isStart } of changes) {
    now += isStart ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}
