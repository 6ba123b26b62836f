import type { Answer } from '../answer.ts';
import { jsonAnswer } from '../answer.ts';
import { header } from '../checks.ts';
import type { Caller } from './admission.ts';
import { negotiate } from './handshake.ts';
import { type Message, parseBody, RpcError } from './json-rpc.ts';
import { codes, McpRefusal } from './mcp-refusal.ts';
import type { McpSession, McpSessions } from './mcp-sessions.ts';
import type { McpRequest } from './request.ts';
import { isRevision } from './revisions.ts';

export interface TransportContext {
  readonly sessions: McpSessions;
  /** Whether the client gets a session id, which all later requests must carry. */
  readonly tellsSessionId: boolean;
  /** The result of one request; throws an RpcError, or an McpRefusal for an error status. */
  run(caller: Caller, session: McpSession, message: Message, nowMs: number): object;
}

/**
 * Streamable HTTP, as the revisions of the protocol describe it. How requests are answered is not shown. Here each is
 * answered with one JSON object, there are no streams, and no batches.
 */
export function answerTransport(context: TransportContext, caller: Caller, request: McpRequest): Answer {
  switch (request.method) {
    case 'POST':
      return post(context, caller, request);
    case 'DELETE':
      context.sessions.end(sessionOf(context, caller, request).id);
      return { status: 204, headers: {}, body: '', reason: null };
    default:
      throw new McpRefusal(405, 'Method not allowed', { headers: { allow: 'POST, DELETE' } });
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
  const message = parseBody(request.body);
  if (message.method === 'initialize') return initialize(context, caller, message);
  const session = sessionOf(context, caller, request);
  const { id, method } = message;
  if (method === undefined || id === undefined) return { status: 202, headers: {}, body: '', reason: null };
  try {
    return jsonAnswer(200, { jsonrpc: '2.0', id, result: context.run(caller, session, message, request.nowMs) });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return jsonAnswer(200, { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } });
  }
}

function initialize(context: TransportContext, caller: Caller, { id, params }: Message): Answer {
  const { revision, result } = negotiate(params.protocolVersion, id ?? null);
  const session = context.sessions.begin(caller, revision);
  const answer = jsonAnswer(200, { jsonrpc: '2.0', id, result });
  if (!context.tellsSessionId) return answer;
  return { ...answer, headers: { ...answer.headers, 'mcp-session-id': session.id } };
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
  const session = context.sessions.find(id, caller);
  if (!session) throw new McpRefusal(404, 'The session is unknown or has ended');
  return session;
}
