/** Why a request got no answer. `sent` is false only if it certainly never left. */
export interface NetworkFailure {
  sent: boolean;
  why: string;
}

/** Error codes of Node and undici for failures before the first byte of a request is written. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const TLS_FAILED = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** @param error what fetch threw, apart from the caller's own time-out */
export function networkFailure(error: unknown): NetworkFailure {
  const code = errorCode(error);
  if (NEVER_SENT.test(code)) return { sent: false, why: `the instance cannot be reached (${code})` };
  if (TLS_FAILED.test(code)) return { sent: false, why: `no trusted TLS connection (${code})` };
  return { sent: true, why: `the connection was cut (${code})` };
}

/** fetch wraps the cause in a TypeError, and the failures of several addresses in an AggregateError. */
function errorCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return 'unknown cause';
}
