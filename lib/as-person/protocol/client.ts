import { isRecord } from '../../outside.ts';
import type { Leaving } from '../../send-once.ts';
import { type McpError, McpRefusal, McpRevisionError, McpRpcError, McpUnreadable } from './errors.ts';
import { sizeOf } from './json-rpc.ts';
import { readTool, readToolResult, type ToolList, type ToolResult } from './tool.ts';
import { type Permit, type SessionAnswer, sendNotification, sendRequest, type Transport } from './transport.ts';

export type McpClient = ReturnType<typeof createMcpClient>;

export interface Session {
  id: string | undefined;
  revision: Revision;
}

const CLIENT_INFO = { name: 'partner-relay', version: '0.1.0' };
const MOST_PAGES = 50;
const MOST_TOOLS = 1_000;
/** The limits for all pages together, because they are kept in memory. */
const MOST_VALUES = 200_000;
const MOST_CHARACTERS = 2 * 1024 * 1024;
/** JSON-RPC's `Invalid params`, with which a service refuses a revision of the protocol. */
const INVALID_PARAMS = -32_602;

/** The state that one client passes to the next, because a session outlives the job that began it. */
export interface KeptSession {
  session: Session | undefined;
  /** The id of the session's last request. */
  lastId: number;
}

export const noSession = (): KeptSession => ({ session: undefined, lastId: 0 });

/**
 * Creates a client of one person at one MCP endpoint. It begins a session with its first call, and a new one if the
 * service has forgotten it. It sends each call once; the caller decides whether to repeat it.
 */
export function createMcpClient(transport: Transport, kept: KeptSession = noSession()) {
  const envelopeOf = ({ id, revision }: Session, token: string | undefined) => ({
    token,
    sessionId: id,
    revision: namesRevisionInHeader(revision) ? revision : undefined,
  });

  /** Begins a session if there is none. @throws {McpError} */
  async function initialize(token: string | undefined): Promise<Session> {
    kept.session ??= await begin(token);
    return kept.session;
  }

  async function begin(token: string | undefined): Promise<Session> {
    const { reply, revision } = await negotiate(token);
    const begun = { id: reply.sessionId, revision };
    await sendNotification(transport, envelopeOf(begun, token), 'notifications/initialized');
    return begun;
  }

  /**
   * Offers the newest revision. After a refusal, offers the newest revision that the service names, or the next older
   * one.
   */
  async function negotiate(token: string | undefined): Promise<{ reply: SessionAnswer; revision: Revision }> {
    let left: readonly Revision[] = revisions;
    for (;;) {
      const [offer] = left;
      if (offer === undefined) throw unknownRevision('none of them');
      try {
        const params = { protocolVersion: offer, capabilities: {}, clientInfo: CLIENT_INFO };
        const reply = await sendRequest(transport, { token }, 'initialize', ++kept.lastId, params);
        const wanted = isRecord(reply.result) ? reply.result.protocolVersion : undefined;
        if (isRevision(wanted)) return { reply, revision: wanted };
        throw unknownRevision(datesIn([wanted]));
      } catch (error) {
        if (!refusesRevision(error)) throw error;
        if (error instanceof McpRefusal && left.length === 1) throw error;
        const data = error instanceof McpRpcError ? error.data : undefined;
        const supported = isRecord(data) && Array.isArray(data.supported) ? data.supported.filter(isText) : undefined;
        left = left.slice(1).filter((revision) => supported?.includes(revision) ?? true);
        if (left.length === 0 && supported) throw unknownRevision(datesIn(supported));
      }
    }
  }

  async function request(
    token: string | undefined,
    method: string,
    params: object,
    leaving?: Leaving,
  ): Promise<unknown> {
    const permit: Permit = (send) => transport.permit(send, leaving);
    const way = { ...transport, permit };
    const used = await initialize(token);
    try {
      return (await sendRequest(way, envelopeOf(used, token), method, ++kept.lastId, params)).result;
    } catch (error) {
      // A 404 means that the service has forgotten the session, and has not read the request (MCP, Session Management).
      if (!(error instanceof McpRefusal) || error.status !== 404 || used.id === undefined) throw error;
      leaving?.refused();
      if (kept.session === used) kept.session = undefined;
      const next = await initialize(token);
      return (await sendRequest(way, envelopeOf(next, token), method, ++kept.lastId, params)).result;
    }
  }

  return {
    initialize,
    /**
     * Lists the tools of all pages.
     * @param token leave it out to request the instance's challenge
     * @param only the names of the tools to keep; without it, all
     * @throws {McpError}
     */
    async listTools(token: string | undefined, only?: readonly string[]): Promise<ToolList> {
      const list: ToolList = { tools: [], unusable: [] };
      const seen = new Set<unknown>();
      const size = { tools: 0, values: 0, characters: 0 };
      let cursor: unknown;
      do {
        const result = await request(token, 'tools/list', cursor === undefined ? {} : { cursor });
        if (!isRecord(result) || !Array.isArray(result.tools)) throw unreadable('tools/list', 'no list of tools');
        count(size, result, result.tools.length);
        for (const entry of result.tools) keep(list, entry, only);
        cursor = result.nextCursor ?? undefined;
        if (seen.has(cursor)) throw unreadable('tools/list', 'a page that was there before');
        seen.add(cursor);
        if (seen.size > MOST_PAGES) throw unreadable('tools/list', `more than ${MOST_PAGES} pages`);
      } while (cursor !== undefined);
      return list;
    },
    /** @param leaving receives what happens to each request with the call @throws {McpError} */
    async callTool(token: string | undefined, name: string, args: object, leaving?: Leaving): Promise<ToolResult> {
      const result = readToolResult(await request(token, 'tools/call', { name, arguments: args }, leaving));
      if (!result) throw unreadable('tools/call', 'no result of a tool');
      return result;
    },
  };
}

/** Adds a page to the size of its list. @throws {McpUnreadable} for an oversized list */
function count(size: Record<'tools' | 'values' | 'characters', number>, page: unknown, tools: number): void {
  const { values, characters } = sizeOf(page);
  size.tools += tools;
  size.values += values;
  size.characters += characters;
  if (size.tools > MOST_TOOLS) throw unreadable('tools/list', `more than ${MOST_TOOLS} tools`);
  if (size.values > MOST_VALUES) throw unreadable('tools/list', `more than ${MOST_VALUES} JSON values`);
  if (size.characters > MOST_CHARACTERS) throw unreadable('tools/list', `more than ${MOST_CHARACTERS} characters`);
}

function keep(list: ToolList, entry: unknown, only: readonly string[] | undefined): void {
  if (only && !(isRecord(entry) && only.some((name) => name === entry.name))) return;
  const tool = readTool(entry);
  if ('why' in tool) list.unusable.push(tool);
  else list.tools.push(tool);
}

/** An endpoint of an older revision may refuse the first request before it reads the offered revision. */
const refusesRevision = (error: unknown) =>
  (error instanceof McpRpcError && error.code === INVALID_PARAMS) ||
  (error instanceof McpRefusal && error.status === 400);

/** Repeats only dates, because the text comes from outside. */
const datesIn = (wanted: readonly unknown[]) =>
  wanted.filter((one) => isText(one) && /^\d{4}-\d\d-\d\d$/.test(one)).join(', ') || 'none that it names';

const isText = (value: unknown) => typeof value === 'string';

const unreadable = (method: string, found: string): McpError => new McpUnreadable(method, { status: 200, found });

function unknownRevision(wanted: string): McpRevisionError {
  return new McpRevisionError(
    'initialize',
    `the service wants another revision of MCP (${wanted}); this relay speaks ${revisions.join(', ')}`,
  );
}

/**
 * The protocol revisions that the service negotiates, newest first (docs/partner-api.md#mcp-revisions). A client that
 * offers a newer one fails the handshake.
 */
export const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
type Revision = (typeof revisions)[number];

function isRevision(value: unknown): value is Revision {
  return revisions.some((revision) => revision === value);
}

/** True if requests after the handshake must name the revision in a header (MCP 2025-06-18, Transports). */
const namesRevisionInHeader = (revision: Revision): boolean => revision >= '2025-06-18';
