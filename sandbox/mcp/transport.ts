import type { Answer } from '../answer.ts';
import { header } from '../checks.ts';
import type { Caller } from './caller.ts';
import { negotiate } from './handshake.ts';
import { isObject, type Message, parseBody, RpcError } from './json-rpc.ts';
import { codes, McpRefusal } from './mcp-refusal.ts';
import { eventsAfter, keepStream, type McpSession, type McpSessions } from './mcp-sessions.ts';
import type { McpRequest } from './request.ts';
import { has, isRevision } from './revisions.ts';

/** The way in which requests are answered is not shown: as one JSON object, or as a stream of events. */
export const answerModes = ['json', 'stream'] as const;

export interface TransportContext {
  readonly sessions: McpSessions;
  readonly answers: (typeof answerModes)[number];
  /** Whether the client gets a session id, which all later requests must carry. */
  readonly tellsSessionId: boolean;
  readonly counterOffers: boolean;
  /** The result of one request; throws an RpcError, or an McpRefusal for an error status. */
  run(caller: Caller, session: McpSession, message: Message, nowMs: number): object;
}

/** Streamable HTTP, as the revisions of the protocol describe it. */
export function answerTransport(context: TransportContext, caller: Caller, request: McpRequest): Answer {
  switch (request.method) {
    case 'POST':
      return post(context, caller, request);
    case 'GET':
      return resume(context, caller, request);
    case 'DELETE':
      context.sessions.end(sessionOf(context, caller, request).id);
      return { status: 204, headers: {}, body: '', reason: null };
    default:
      throw new McpRefusal(405, 'Method not allowed', { headers: { allow: 'POST, GET, DELETE' } });
  }
}

function post(context: TransportContext, caller: Caller, request: McpRequest): Answer {
  const accept = header(request.headers, 'accept');
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    throw new McpRefusal(406, 'accept must name application/json and text/event-stream', { code: codes.notAcceptable });
  }
  if (!header(request.headers, 'content-type').includes('application/json')) {
    throw new McpRefusal(415, 'content-type must be application/json', { code: codes.notAcceptable });
  }
  const { messages, isBatch } = parseBody(request.body);
  const [first] = messages;
  if (!isBatch && first?.method === 'initialize') return initialize(context, caller, first);

  const session = sessionOf(context, caller, request);
  // Only one revision has batches.
  if (isBatch && session.revision !== '2025-03-26') {
    throw new McpRefusal(400, `There are no batches in ${session.revision}`, { code: codes.invalidRequest });
  }
  const answered = messages.flatMap((message) =>
    message.method === undefined || message.id === undefined
      ? []
      : { message, response: respond(context, caller, session, message, request.nowMs) },
  );
  if (answered.length === 0) return { status: 202, headers: {}, body: '', reason: null };
  const responses = answered.map(({ response }) => response);
  if (context.answers === 'json') return json(isBatch ? responses : responses[0]);
  const priming = has(session.revision, 'primingEvents') ? [null] : [];
  return stream(
    keepStream(session, [...priming, ...answered.flatMap(({ message }) => progressOf(message)), ...responses]),
  );
}

function initialize(context: TransportContext, caller: Caller, message: Message): Answer {
  const { id, params } = message;
  const { revision, result } = negotiate(params.protocolVersion, id ?? null, context.counterOffers);
  const session = context.sessions.begin(caller, revision);
  const response = { jsonrpc: '2.0', id, result };
  const answer = context.answers === 'json' ? json(response) : stream(keepStream(session, [response]));
  if (!context.tellsSessionId) return answer;
  return { ...answer, headers: { ...answer.headers, 'mcp-session-id': session.id } };
}

function respond(
  context: TransportContext,
  caller: Caller,
  session: McpSession,
  message: Message,
  nowMs: number,
): object {
  const { id } = message;
  try {
    return { jsonrpc: '2.0', id, result: context.run(caller, session, message, nowMs) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message, data: error.data } };
  }
}

/** What follows the event that the client saw last. A stream of its own for messages of the server is not offered. */
function resume(context: TransportContext, caller: Caller, request: McpRequest): Answer {
  const session = sessionOf(context, caller, request);
  const lastEventId = header(request.headers, 'last-event-id');
  if (lastEventId === '' || context.answers === 'json') {
    throw new McpRefusal(405, 'There is no stream to listen to', { headers: { allow: 'POST, DELETE' } });
  }
  const events = eventsAfter(session, lastEventId);
  if (events === undefined) throw new McpRefusal(404, 'There is no such event');
  return stream(events);
}

function sessionOf(context: TransportContext, caller: Caller, { headers }: McpRequest): McpSession {
  const revision = headers['mcp-protocol-version'];
  if (revision !== undefined && !isRevision(revision)) {
    throw new McpRefusal(400, 'mcp-protocol-version is not supported', { code: codes.notAcceptable });
  }
  // Without sessions nothing is known of the handshake; a request that names no revision has 2025-03-26.
  if (!context.tellsSessionId) return context.sessions.begin(caller, revision ?? '2025-03-26');
  const id = header(headers, 'mcp-session-id');
  if (id === '') throw new McpRefusal(400, 'mcp-session-id is required', { code: codes.notAcceptable });
  return context.sessions.find(id, caller) ?? unknownSession();
}

function unknownSession(): never {
  throw new McpRefusal(404, 'The session is unknown or has ended');
}

function progressOf({ params }: Message): object[] {
  const progressToken = isObject(params._meta) ? params._meta.progressToken : undefined;
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return [];
  return [0, 1, 2].map((progress) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress, total: 2 },
  }));
}

function json(value: unknown): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value), reason: null };
}

function stream(events: readonly string[]): Answer {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
  return { status: 200, headers, body: events.map((text) => ({ text })), reason: null };
}
