import { type McpError, McpRefusal, McpRevisionError, McpRpcError, McpUnreadable } from './errors.ts';
import { isRecord } from './json-rpc.ts';
import { outsideText } from './outside-text.ts';
import { isRevision, namesRevisionInHeader, type Revision, revisions } from './revisions.ts';
import { readTool, readToolResult, type ToolList, type ToolResult } from './tool.ts';
import { endSession, type Permit, type Reply, sendNotification, sendRequest, type Transport } from './transport.ts';

/**
 * A client of one person at one MCP endpoint. It begins a session with its first call, and another one where the service
 * has forgotten it. It sends each call once: whether a call may be repeated is its caller's decision.
 */
export interface McpClient {
  /**
   * All pages.
   * @param token without it the request goes without one, as an instance is asked for its challenge
   * @throws {McpError}
   */
  listTools(token: string | undefined): Promise<ToolList>;
  /**
   * @param beforeSend runs right before each request with the call leaves, once it may; what it throws keeps the call back
   * @throws {McpError}
   */
  callTool(
    token: string | undefined,
    name: string,
    args: object,
    beforeSend?: () => Promise<void>,
  ): Promise<ToolResult>;
  /** Begins a session if there is none. @throws {McpError} */
  initialize(token: string | undefined): Promise<Session>;
  /** Ends the session, if there is one. @throws {McpError} */
  close(token: string | undefined): Promise<void>;
}

export interface Session {
  id: string | undefined;
  revision: Revision;
  /** What the service calls itself: one short line. */
  server: string;
}

const CLIENT_INFO = { name: 'partner-relay', version: '0.1.0' };
const MOST_PAGES = 50;
const MOST_TOOLS = 1_000;
/** JSON-RPC's `Invalid params`, with which a service refuses a revision. */
const INVALID_PARAMS = -32_602;

/** What goes on from one client to the next: a session outlives the job that began it. */
export interface KeptSession {
  session: Session | undefined;
  /** Of the requests in it. */
  lastId: number;
}

export const noSession = (): KeptSession => ({ session: undefined, lastId: 0 });

export function createMcpClient(transport: Transport, kept: KeptSession = noSession()): McpClient {
  const envelopeOf = ({ id, revision }: Session, token: string | undefined) => ({
    token,
    sessionId: id,
    revision: namesRevisionInHeader(revision) ? revision : undefined,
  });

  async function initialize(token: string | undefined): Promise<Session> {
    kept.session ??= await begin(token);
    return kept.session;
  }

  async function begin(token: string | undefined): Promise<Session> {
    const { reply, revision } = await negotiate(token);
    const { serverInfo } = isRecord(reply.result) ? reply.result : {};
    const server = isRecord(serverInfo) ? outsideText(`${serverInfo.name ?? ''} ${serverInfo.version ?? ''}`) : '';
    const begun = { id: reply.sessionId, revision, server };
    await sendNotification(transport, envelopeOf(begun, token), 'notifications/initialized');
    return begun;
  }

  /** Offers the newest revision, and after a refusal the newest of those that the service names, or the next older one. */
  async function negotiate(token: string | undefined): Promise<{ reply: Reply; revision: Revision }> {
    let left: readonly Revision[] = revisions;
    for (;;) {
      const [offer] = left;
      if (offer === undefined) throw unknownRevision('none of them');
      try {
        const params = { protocolVersion: offer, capabilities: {}, clientInfo: CLIENT_INFO };
        const reply = await sendRequest(transport, { token }, 'initialize', ++kept.lastId, params);
        const wanted = isRecord(reply.result) ? reply.result.protocolVersion : undefined;
        if (isRevision(wanted)) return { reply, revision: wanted };
        throw unknownRevision(typeof wanted === 'string' ? outsideText(wanted) : 'none that it names');
      } catch (error) {
        if (!(error instanceof McpRpcError) || error.code !== INVALID_PARAMS) throw error;
        const supported =
          isRecord(error.data) && Array.isArray(error.data.supported) ? error.data.supported : undefined;
        left = left.slice(1).filter((revision) => supported?.includes(revision) ?? true);
        if (left.length === 0 && supported) throw unknownRevision(outsideText(supported.join(', ')));
      }
    }
  }

  async function request(
    token: string | undefined,
    method: string,
    params: object,
    beforeSend?: () => Promise<void>,
  ): Promise<unknown> {
    const way = beforeSend ? heldBack(transport, beforeSend) : transport;
    const used = await initialize(token);
    try {
      return (await sendRequest(way, envelopeOf(used, token), method, ++kept.lastId, params)).result;
    } catch (error) {
      // The service has forgotten the session, and has not looked at the request (MCP, Session Management).
      if (!(error instanceof McpRefusal) || error.status !== 404 || used.id === undefined) throw error;
      if (kept.session === used) kept.session = undefined;
      const next = await initialize(token);
      return (await sendRequest(way, envelopeOf(next, token), method, ++kept.lastId, params)).result;
    }
  }

  return {
    initialize,
    async listTools(token) {
      const list: ToolList = { tools: [], unusable: [] };
      const seen = new Set<unknown>();
      let cursor: unknown;
      do {
        const result = await request(token, 'tools/list', cursor === undefined ? {} : { cursor });
        if (!isRecord(result) || !Array.isArray(result.tools)) throw unreadable('tools/list', 'no list of tools');
        for (const tool of result.tools.map(readTool)) {
          if ('why' in tool) list.unusable.push(tool);
          else list.tools.push(tool);
        }
        cursor = result.nextCursor ?? undefined;
        if (seen.has(cursor)) throw unreadable('tools/list', 'a page that was there before');
        seen.add(cursor);
        if (seen.size > MOST_PAGES || list.tools.length + list.unusable.length > MOST_TOOLS) {
          throw unreadable('tools/list', `more than ${MOST_TOOLS} tools or ${MOST_PAGES} pages`);
        }
      } while (cursor !== undefined);
      return list;
    },
    async callTool(token, name, args, beforeSend) {
      const result = readToolResult(await request(token, 'tools/call', { name, arguments: args }, beforeSend));
      if (!result) throw unreadable('tools/call', 'no result of a tool');
      return result;
    },
    async close(token) {
      const ended = kept.session;
      if (ended?.id === undefined) return;
      kept.session = undefined;
      await endSession(transport, envelopeOf(ended, token));
    },
  };
}

/** The same way, on which something happens before a request leaves that may leave now. */
function heldBack(transport: Transport, beforeSend: () => Promise<void>): Transport {
  const permit: Permit = (send) => transport.permit(send, beforeSend);
  return { ...transport, permit };
}

const unreadable = (method: string, found: string): McpError => new McpUnreadable(method, { status: 200, found });

function unknownRevision(wanted: string): McpRevisionError {
  return new McpRevisionError(
    'initialize',
    `the service wants another revision of MCP (${wanted}); this relay speaks ${revisions.join(', ')}`,
  );
}
