/** The reason why a request got no answer. `sent` is false only if the request certainly never left. */
export interface NetworkFailure {
  sent: boolean;
  why: string;
}

/** Error codes of Node and undici for failures before the first byte of a request is written. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|bad port)$/;
const TLS_FAILED = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** undici has no code for a proxy that answers CONNECT with a status other than 200. */
const NOT_TUNNELLED = /^Proxy response (\(\d+\)) .*Tunneling$/;

/** @param error the error of fetch, except for the caller's own time-out */
export function networkFailure(error: unknown): NetworkFailure {
  const [, status] =
    causes(error)
      .map(({ message }) => NOT_TUNNELLED.exec(message))
      .find(Boolean) ?? [];
  if (status !== undefined) return { sent: false, why: `the proxy does not connect to the service ${status}` };
  const code = errorCode(error);
  if (NEVER_SENT.test(code)) return { sent: false, why: `the service cannot be reached (${code})` };
  if (TLS_FAILED.test(code)) return { sent: false, why: `there is no trusted TLS connection (${code})` };
  return { sent: true, why: `the connection was cut (${code})` };
}

function errorCode(error: unknown): string {
  for (const cause of causes(error)) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  // Without a code, the cause is in words, such as for a port that fetch refuses.
  return causes(error).slice(1).at(-1)?.message ?? 'unknown cause';
}

/**
 * Lists an error and its causes. fetch wraps the cause in a TypeError, and the failures of several addresses in an
 * AggregateError.
 */
function causes(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}
