import type { Leaving } from '../../send-once.ts';
import { parsedJson } from '../../text.ts';
import { McpRefusal, McpRpcError, McpUnanswered, McpUnreadable } from './errors.ts';
import { readEvents } from './event-stream.ts';
import { ANSWER_TIMEOUT_MS, type Answer, type ExchangeTimes, exchange, readText, TooLong } from './exchange.ts';
import { type Message, readMessages } from './json-rpc.ts';
import { knownError, readChallenge } from './oauth/challenge.ts';
import { outsideText, withoutSecrets } from './outside-text.ts';

/**
 * Wraps each HTTP request, so that a caller can make it wait for a slot of the budget. The wrapper's own errors reach
 * the caller unchanged.
 *
 * @param leaving is notified that the request may leave, and that it leaves
 */
export type Permit = <T>(send: () => Promise<T>, leaving?: Leaving) => Promise<T>;

/** The connection to one MCP endpoint over streamable HTTP (MCP 2025-11-25, Transports). */
export interface Transport {
  endpoint: string;
  permit: Permit;
  fetch: typeof globalThis.fetch;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Waits before requesting a stream again. */
  sleep: (ms: number) => Promise<unknown>;
  times?: ExchangeTimes;
}

/** The headers of every message of a session. */
interface SessionHeaders {
  token?: string | undefined;
  sessionId?: string | undefined;
  /** Set if the header must name it. */
  revision?: string | undefined;
}

export interface SessionAnswer {
  result: unknown;
  /** The session that the endpoint began with this answer. */
  sessionId: string | undefined;
}

/** How often to request a cut stream again. */
const MOST_RESUMES = 5;
const USUAL_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;

/**
 * Sends a request and waits for its result, as JSON or in a stream.
 *
 * @throws {McpRefusal | McpRpcError | McpUnreadable | McpUnanswered}
 */
export async function sendRequest(
  transport: Transport,
  envelope: SessionHeaders,
  method: string,
  id: number,
  params: object,
): Promise<SessionAnswer> {
  const answer = await post(transport, envelope, method, { jsonrpc: '2.0', id, method, params });
  const sessionId = answer.headers.get('mcp-session-id') ?? undefined;
  if (sessionId !== undefined && !/^[\x21-\x7e]{1,1024}$/.test(sessionId)) {
    answer.drop();
    throw new McpUnreadable(method, { status: answer.status, found: 'a session id that no header can carry' });
  }
  const message = isStream(answer)
    ? await fromStream(transport, { ...envelope, sessionId: sessionId ?? envelope.sessionId }, method, id, answer)
    : await fromBody(envelope, method, id, answer);
  if (message.kind === 'error') {
    const { code, data } = message;
    throw new McpRpcError(method, { code, said: outsideText(message.message), data });
  }
  return { result: message.result, sessionId };
}

/** Sends a message without an answer. @throws {McpRefusal | McpUnreadable | McpUnanswered} */
export async function sendNotification(transport: Transport, envelope: SessionHeaders, method: string): Promise<void> {
  (await post(transport, envelope, method, { jsonrpc: '2.0', method })).drop();
}

type ResultOrError = Extract<Message, { kind: 'result' | 'error' }>;

const isStream = ({ headers }: Answer) => /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');

function headersOf({ token, sessionId, revision }: SessionHeaders): Record<string, string> {
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
    ...(revision !== undefined && { 'mcp-protocol-version': revision }),
  };
}

/** @throws {McpRefusal | McpUnreadable} for any status except success */
async function post(transport: Transport, envelope: SessionHeaders, method: string, message: object): Promise<Answer> {
  const request = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headersOf(envelope),
    },
    body: JSON.stringify(message),
  };
  const answer = await transport.permit(() =>
    exchange(transport.fetch, method, transport.endpoint, request, transport.times),
  );
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw await refusalOf(envelope, method, answer);
}

async function refusalOf(
  { token }: SessionHeaders,
  method: string,
  answer: Answer,
): Promise<McpRefusal | McpUnreadable> {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) {
    answer.drop();
    return new McpUnreadable(method, { status, found: 'a redirect; is the base URL right?' });
  }
  // The status decides, so an unreadable body makes no difference.
  const body = withoutSecrets(await readText(answer).catch(() => ''), [token]);
  // But a 404 with a page or another text comes from a proxy, perhaps after the endpoint has done the work.
  if (status === 404 && body.trim() !== '' && parsedJson(body) === undefined) {
    return new McpUnreadable(method, { status, found: kindOf(body) });
  }
  const error = (readMessages(body) ?? []).find((message) => message.kind === 'error');
  const challenge = readChallenge(withoutSecrets(headers.get('www-authenticate') ?? '', [token]));
  return new McpRefusal(method, {
    status,
    challenge,
    // docs/partner-api.md#mcp-errors does not show where the error is.
    error: challenge?.error ?? knownError(body),
    code: error?.code ?? null,
    said: (error && outsideText(error.message)) || (challenge?.description ?? null),
    retryAfter: headers.get('retry-after'),
  });
}

async function fromBody({ token }: SessionHeaders, method: string, id: number, answer: Answer): Promise<ResultOrError> {
  const { status } = answer;
  const body = await readText(answer).catch((error) => {
    throw error instanceof TooLong ? new McpUnreadable(method, { status, found: error.message }) : error;
  });
  const messages = readMessages(withoutSecrets(body, [token]));
  if (!messages) throw new McpUnreadable(method, { status, found: kindOf(body) });
  const outcome = outcomeFor(messages, id);
  if (!outcome) throw new McpUnreadable(method, { status, found: 'no answer to the request' });
  return outcome;
}

function kindOf(body: string): string {
  if (body.trim() === '') return 'an empty body';
  return /^\s*<(!doctype|html)/i.test(body) ? 'an HTML page' : 'no JSON-RPC message';
}

function outcomeFor(messages: readonly Message[], id: number): ResultOrError | undefined {
  return messages.find(
    (message): message is ResultOrError =>
      (message.kind === 'result' || message.kind === 'error') && (message.id === id || message.id === null),
  );
}

/** Reads streams, one after the other, until the result arrives. */
async function fromStream(
  transport: Transport,
  envelope: SessionHeaders,
  method: string,
  id: number,
  first: Answer,
): Promise<ResultOrError> {
  const { clock, sleep, times } = transport;
  const deadline = clock() + (times?.answerTimeoutMs ?? ANSWER_TIMEOUT_MS);
  let stream: Answer | undefined = first;
  let lastEventId: string | undefined;
  let retryMs = USUAL_RETRY_MS;
  for (let resumes = 0; ; resumes++) {
    let cut: unknown;
    try {
      stream ??= await resume(transport, envelope, method, String(lastEventId), deadline);
      for await (const event of readEvents(stream.chunks())) {
        if (event.id) lastEventId = event.id;
        retryMs = Math.min(event.retryMs ?? retryMs, LONGEST_RETRY_MS);
        const messages = event.data === '' ? [] : readMessages(withoutSecrets(event.data, [envelope.token]));
        if (!messages) throw new McpUnreadable(method, { status: stream.status, found: 'an event without a message' });
        const outcome = outcomeFor(messages, id);
        if (outcome) return outcome;
        for (const message of messages) if (message.kind === 'request') await respond(transport, envelope, message);
      }
    } catch (error) {
      if (error instanceof TooLong) throw new McpUnreadable(method, { status: 200, found: error.message });
      if (!(error instanceof McpUnanswered)) throw error;
      cut = error;
    }
    if (lastEventId === undefined || resumes === MOST_RESUMES || clock() + retryMs >= deadline) {
      throw new McpUnanswered(method, { sent: true, why: 'the stream ended before the result', cause: cut });
    }
    await sleep(retryMs);
    stream = undefined;
  }
}

/**
 * Requests a stream again. Every failure here means that the request was sent and its result is unknown. Waiting for
 * the budget here would look as if nothing had been sent.
 *
 * @throws {McpUnanswered}
 */
async function resume(
  transport: Transport,
  envelope: SessionHeaders,
  method: string,
  lastEventId: string,
  deadline: number,
): Promise<Answer> {
  const { endpoint, permit, fetch, times, clock } = transport;
  const headers = { accept: 'text/event-stream', ...headersOf(envelope), 'last-event-id': lastEventId };
  const left = { ...times, answerTimeoutMs: deadline - clock() };
  let answer: Answer;
  try {
    answer = await permit(() => exchange(fetch, method, endpoint, { method: 'GET', headers }, left));
  } catch (cause) {
    throw new McpUnanswered(method, { sent: true, why: 'the stream was cut and cannot be resumed', cause });
  }
  if (answer.status === 200 && isStream(answer)) return answer;
  answer.drop();
  const why = `the stream was cut, and resuming it is answered with status ${answer.status}`;
  throw new McpUnanswered(method, { sent: true, why });
}

/** Answers a request of the service. The relay declares no capabilities, so it can only be a ping. */
async function respond(
  transport: Transport,
  envelope: SessionHeaders,
  request: { id: string | number; method: string },
) {
  const { id, method } = request;
  const refusal = { code: -32601, message: 'this client offers no methods but ping' };
  const response = { jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error: refusal }) };
  try {
    (await post(transport, envelope, `answer to ${outsideText(method)}`, response)).drop();
  } catch {
    // After any failure here, the awaited result may still arrive.
  }
}
