import { charsetOf, decoded } from '../../encoding.ts';
import { readUpTo } from '../../outside.ts';
import { type HttpAnswer, MOST_BODY_BYTES } from './answer.ts';
import { PartnerUnanswered } from './errors.ts';
import { type NetworkFailure, networkFailure } from './network-failure.ts';
import type { SignedRequest } from './signed-request.ts';

/**
 * Sends a request once, and reads the answer.
 * @throws {PartnerUnanswered}
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  operation: string,
  request: SignedRequest,
  timeoutMs: number,
): Promise<HttpAnswer> {
  let response: Response | undefined;
  try {
    response = await fetch(request.url, {
      method: 'POST',
      headers: request.headers,
      body: request.body,
      // Following a redirect would send a signed request to a URL that it was not signed for.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status, headers } = response;
    const { bytes, isCut } = await readUpTo(MOST_BODY_BYTES, response.body);
    return { status, headers, body: decoded(bytes, charsetOf(headers)), isCut };
  } catch (cause) {
    const { sent, why } = whatFailed(cause, timeoutMs);
    // Once headers came, the request was sent, whatever the error says.
    throw new PartnerUnanswered(operation, { sent: sent || response !== undefined, why, cause });
  }
}

function whatFailed(error: unknown, timeoutMs: number): NetworkFailure {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  return isTimeout
    ? { sent: true, why: `the service did not answer within ${timeoutMs / 1000} s` }
    : networkFailure(error);
}
