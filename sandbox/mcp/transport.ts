import { type Answer, jsonAnswer } from '../answer.ts';
import { header } from '../checks.ts';
import { type Message, parseBody, RpcError } from './json-rpc.ts';
import { codes, McpRefusal, type RequestId } from './mcp-refusal.ts';
import type { McpParts } from './parts.ts';
import type { Caller, McpRequest } from './request.ts';

/**
 * Streamable HTTP, as the protocol's revisions describe it. Assumed: each request gets one JSON object as its answer,
 * and there are no streams or batches.
 */
export function answerTransport(parts: McpParts, caller: Caller, request: McpRequest): Answer {
  switch (request.method) {
    case 'POST':
      return post(parts, caller, request);
    case 'DELETE':
      parts.sessions.end(sessionOf(parts, caller, request));
      return { status: 204, headers: {}, body: '', reason: null };
    default:
      throw new McpRefusal(405, 'Method not allowed', { headers: { allow: 'POST, DELETE' } });
  }
}

function post(parts: McpParts, caller: Caller, request: McpRequest): Answer {
  const accept = header(request.headers, 'accept');
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    throw new McpRefusal(406, 'accept must name application/json and text/event-stream', { code: codes.notAcceptable });
  }
  if (!header(request.headers, 'content-type').includes('application/json')) {
    throw new McpRefusal(415, 'content-type must be application/json', { code: codes.notAcceptable });
  }
  const message = parseBody(request.body);
  if (message.method === 'initialize') return initialize(parts, caller, message);
  sessionOf(parts, caller, request);
  const { id, method } = message;
  if (method === undefined || id === undefined) return { status: 202, headers: {}, body: '', reason: null };
  try {
    return jsonAnswer(200, { jsonrpc: '2.0', id, result: parts.toolCalls.run(caller, message, request.nowMs) });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return jsonAnswer(200, { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } });
  }
}

function initialize(parts: McpParts, caller: Caller, { id, params }: Message): Answer {
  const answer = jsonAnswer(200, { jsonrpc: '2.0', id, result: negotiate(params.protocolVersion, id ?? null) });
  if (!parts.tellsSessionId) return answer;
  return { ...answer, headers: { ...answer.headers, 'mcp-session-id': parts.sessions.begin(caller) } };
}

/** The session of the request; undefined if the service has no sessions. */
function sessionOf(parts: McpParts, caller: Caller, { headers }: McpRequest): string | undefined {
  const revision = headers['mcp-protocol-version'];
  if (revision !== undefined && !isRevision(revision)) {
    throw new McpRefusal(400, 'mcp-protocol-version is not supported', { code: codes.notAcceptable });
  }
  if (!parts.tellsSessionId) return undefined;
  const id = header(headers, 'mcp-session-id');
  if (id === '') throw new McpRefusal(400, 'mcp-session-id is required', { code: codes.notAcceptable });
  if (!parts.sessions.has(id, caller)) throw new McpRefusal(404, 'The session is unknown or has ended');
  return id;
}

/** The revisions that the service supports (docs/partner-api.md#mcp-revisions), newest first. */
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

function isRevision(value: unknown): boolean {
  return revisions.some((revision) => revision === value);
}

/**
 * "A client offering a newer revision fails the handshake right after OAuth succeeds." The failure is assumed to be an
 * error.
 */
function negotiate(offered: unknown, id: RequestId): object {
  if (!isRevision(offered)) {
    const message = `Unsupported protocol version; supported are ${revisions.join(', ')}`;
    throw new McpRefusal(400, message, { code: codes.invalidParams, id });
  }
  return {
    protocolVersion: offered,
    capabilities: { tools: {} },
    serverInfo: { name: 'project-management-sandbox', version: '1.0.0' },
  };
}
