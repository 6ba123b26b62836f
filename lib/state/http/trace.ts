/**
 * Returns the trace of a request from its header `traceparent`, under which the sender finds the request. The header is
 * not signed, so nothing depends on it.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 * @param headers with lowercase names
 */
export function traceOf({ traceparent = '' }: Readonly<Record<string, string | undefined>>): { trace?: string } {
  return /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent) ? { trace: traceparent } : {};
}
