import { createMcpClient, type KeptSession, type McpClient, noSession } from '../mcp/client.ts';
import { missingScopes, type ToolDecision, type ToolHistory, toolDecisions, toolOutcome } from '../mcp/decide.ts';
import { McpError, McpRefusal } from '../mcp/errors.ts';
import type { ToolList, ToolResult } from '../mcp/tool.ts';
import type { Transport } from '../mcp/transport.ts';
import type { AccessToken, AccessTokens } from './access-tokens.ts';
import { CallRejected, InstanceTrouble, LinkNeeded, OutcomeUnknown, TryLater } from './errors.ts';
import type { Grant, Holder } from './grant.ts';

/** Calls of tools as a person, on one connection. */
export interface ToolCalls {
  /**
   * The tools that the person may call.
   * @throws {GrantError | SecretError} and what the transport's permit throws
   */
  list(holder: Holder): Promise<ToolList>;
  /**
   * Calls a tool. A tool that creates is sent once at most, apart from a refusal that says that it was not carried out.
   *
   * @param history `creating` for every tool that does not say of itself, by a mapping or its hints, that it is harmless
   * @param beforeSend runs right before the call leaves, once it may, with the grant that it is sent with; what it throws
   * keeps the call back
   * @throws {GrantError | SecretError} and what the transport's permit throws, always before the call is sent
   */
  call(
    holder: Holder,
    history: ToolHistory,
    tool: string,
    args: object,
    beforeSend?: (grant: Grant) => Promise<void>,
  ): Promise<ToolResult>;
}

export interface ToolCallsOptions {
  transport: Transport;
  tokens: AccessTokens;
  /** Stops all callers of the endpoint until then. Epoch milliseconds. */
  pause: (until: number) => Promise<void>;
  /** Reads a Retry-After header. @returns seconds */
  retryAfterSeconds: (header: string | null) => number | null;
  /** Those of earlier calls of this process. */
  sessions?: Sessions;
}

/** Where a 429 has no Retry-After. */
const RATE_LIMIT_PAUSE_MS = 60_000;
const FAILURE_PAUSE_MS = 10_000;
const MOST_SESSIONS = 200;

/** The sessions of this process: a session belongs to the person who began it, and to one link of theirs. */
export type Sessions = Map<string, KeptSession>;

export function createToolCalls(options: ToolCallsOptions): ToolCalls {
  const { transport, tokens, pause, retryAfterSeconds, sessions = new Map<string, KeptSession>() } = options;

  function clientOf({ grant }: AccessToken): McpClient {
    const { connection, holder, linkId } = grant;
    const key = JSON.stringify([connection, holder.in, holder.id, linkId]);
    const kept = sessions.get(key) ?? noSession();
    sessions.delete(key);
    sessions.set(key, kept);
    const [oldest] = sessions.keys();
    if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    return createMcpClient(transport, kept);
  }

  async function asPerson<T>(
    holder: Holder,
    history: ToolHistory,
    call: (client: McpClient, access: AccessToken) => Promise<T>,
  ): Promise<T> {
    let refused: string | undefined;
    for (;;) {
      const access = await tokens.get(holder, refused);
      try {
        return await call(clientOf(access), access);
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        // What comes before the call of the tool creates nothing.
        const what = error.method === 'tools/call' ? history : 'repeatable';
        const decision = toolDecisions[toolOutcome(error, refused !== undefined)][what];
        if (decision === 'link again') await tokens.refuse(access.grant, saidBy(error));
        else if (decision !== 'refresh') return act(decision, error, access.grant);
        refused = access.grant.version;
      }
    }
  }

  async function act(
    decision: Exclude<ToolDecision, 'refresh' | 'link again'>,
    error: McpError,
    { linkId }: Grant,
  ): Promise<never> {
    const now = transport.clock();
    switch (decision) {
      case 'link with scope':
        throw new LinkNeeded('scope missing', linkId, {
          scopes: error instanceof McpRefusal ? missingScopes(error) : [],
          said: saidBy(error),
        });
      case 'wait for budget': {
        const seconds = error instanceof McpRefusal ? retryAfterSeconds(error.retryAfter) : null;
        const at = now + (seconds === null ? RATE_LIMIT_PAUSE_MS : seconds * 1000);
        await pause(at);
        throw new TryLater('the service wants fewer calls', { at, isForBudget: true, cause: error });
      }
      case 'retry later':
        throw new TryLater(error.message, { at: now + FAILURE_PAUSE_MS, cause: error });
      case 'outcome unknown':
        throw new OutcomeUnknown(error.message, { cause: error });
      case 'tell':
        throw new CallRejected(error.message, { cause: error });
      case 'park':
        throw new InstanceTrouble(error.message, { cause: error });
    }
  }

  return {
    list: (holder) => asPerson(holder, 'repeatable', (client, { token }) => client.listTools(token)),
    async call(holder, history, tool, args, beforeSend) {
      return asPerson(holder, history, (client, { token, grant }) =>
        client.callTool(token, tool, args, beforeSend && (() => beforeSend(grant))),
      );
    },
  };
}

/** The service's own words. */
const saidBy = (error: McpError) => (error instanceof McpRefusal ? error.said : null);
