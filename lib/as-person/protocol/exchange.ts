import { type NetworkFailure, networkFailure } from '../../service/partner/network-failure.ts';
import { McpUnanswered } from './errors.ts';

/** The longest time from the first byte sent to the answer's headers, as in the partner API. */
const HEADERS_TIMEOUT_MS = 10_000;
/** The longest time from the first byte sent to the last byte read. A stream stays open while a tool works. */
export const ANSWER_TIMEOUT_MS = 30_000;
/** The read limit for an answer. Parsed, it can take 70 times as much memory. */
const MOST_BYTES = 2 * 1024 * 1024;

export interface ExchangeTimes {
  headersTimeoutMs?: number;
  answerTimeoutMs?: number;
}

/** An HTTP answer. Its body can be read once, within the limits. */
export interface Answer {
  status: number;
  headers: Headers;
  /** @throws {McpUnanswered} for a body that is cut off or takes too long, {@link TooLong} for an oversized body */
  chunks(): AsyncGenerator<Uint8Array>;
  /** Ends an answer without reading further. */
  drop(): void;
}

/** The body is longer than {@link MOST_BYTES}. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
}

/**
 * Sends one HTTP request.
 *
 * @param what its name in errors, such as `tools/call`
 * @throws {McpUnanswered}
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  what: string,
  url: string,
  request: Omit<RequestInit, 'signal' | 'redirect'>,
  { headersTimeoutMs = HEADERS_TIMEOUT_MS, answerTimeoutMs = ANSWER_TIMEOUT_MS }: ExchangeTimes = {},
): Promise<Answer> {
  const control = new AbortController();
  const abortAfter = (ms: number) =>
    setTimeout(() => control.abort(new TimedOut(`the service sent nothing within ${ms / 1000} s`)), ms);
  const forHeaders = abortAfter(Math.min(headersTimeoutMs, answerTimeoutMs));
  const forAll = abortAfter(answerTimeoutMs);
  const stop = () => {
    clearTimeout(forHeaders);
    clearTimeout(forAll);
  };
  let response: Response;
  try {
    // Following a redirect would send the token to a host for which it is not meant.
    response = await fetch(url, { ...request, redirect: 'manual', signal: control.signal });
  } catch (cause) {
    stop();
    throw new McpUnanswered(what, { ...whatFailed(cause), cause });
  }
  clearTimeout(forHeaders);
  return {
    status: response.status,
    headers: response.headers,
    async *chunks() {
      let bytes = 0;
      try {
        for await (const chunk of response.body ?? []) {
          bytes += chunk.length;
          if (bytes > MOST_BYTES) throw new TooLong(`more than ${MOST_BYTES / 1024 / 1024} MB`);
          yield chunk;
        }
      } catch (cause) {
        if (cause instanceof TooLong) throw cause;
        throw new McpUnanswered(what, { ...whatFailed(cause), sent: true, cause });
      } finally {
        stop();
        control.abort();
      }
    },
    drop() {
      stop();
      control.abort();
    },
  };
}

/** @throws {McpUnanswered | TooLong} */
export async function readText({ chunks }: Answer): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks()) read.push(chunk);
  return new TextDecoder().decode(Buffer.concat(read));
}

class TimedOut extends Error {}

function whatFailed(error: unknown): NetworkFailure {
  return error instanceof TimedOut ? { sent: true, why: error.message } : networkFailure(error);
}
