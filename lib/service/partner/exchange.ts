import { charsetOf, decoded } from '../../encoding.ts';
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
    return { status: response.status, headers: response.headers, ...(await readBody(response)) };
  } catch (cause) {
    const { sent, why } = whatFailed(cause, timeoutMs);
    // Once headers came, the request was sent, whatever the error is called.
    throw new PartnerUnanswered(operation, { sent: sent || response !== undefined, why, cause });
  }
}

/** Reads a body up to {@link MOST_BODY_BYTES}. */
async function readBody({ body, headers }: Response): Promise<Pick<HttpAnswer, 'body' | 'isCut'>> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) break;
    read.push(chunk);
  }
  const text = decoded(Buffer.concat(read), charsetOf(headers));
  return { body: text, isCut: bytes > MOST_BODY_BYTES };
}

function whatFailed(error: unknown, timeoutMs: number): NetworkFailure {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  return isTimeout ? { sent: true, why: `no answer within ${timeoutMs / 1000} s` } : networkFailure(error);
}
