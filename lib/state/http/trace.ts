/**
 * The trace that a request names, as its sender sees it: the header `traceparent`. It is not signed, and decides nothing.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 *
 * @param headers with lowercase names
 */
export function traceOf({ traceparent = '' }: Readonly<Record<string, string | undefined>>): { trace?: string } {
  return /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent) ? { trace: traceparent } : {};
}
