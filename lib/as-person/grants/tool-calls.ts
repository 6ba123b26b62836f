import { decisions, isRefusal, type ToolDecision, type ToolHistory } from '../../decide.ts';
import type { Leaving } from '../../send-once.ts';
import { createMcpClient, type KeptSession, type McpClient, noSession } from '../protocol/client.ts';
import { McpError, McpRefusal } from '../protocol/errors.ts';
import type { ToolList, ToolResult } from '../protocol/tool.ts';
import { missingScopes, toolOutcome } from '../protocol/tool-outcome.ts';
import type { Transport } from '../protocol/transport.ts';
import type { AccessToken, AccessTokens } from './access-tokens.ts';
import { AccountNeeded, CallRejected, InstanceTrouble, OutcomeUnknown, TryLater } from './errors.ts';
import type { Grant, Holder } from './grant.ts';

interface ToolCallsOptions {
  transport: Transport;
  tokens: AccessTokens;
  /**
   * Pauses all callers of the endpoint.
   * @param forMs the pause requested by the endpoint, if any
   * @returns when the pause ends; epoch milliseconds
   */
  pause: (forMs?: number) => Promise<number>;
  /** Reads a Retry-After header. @returns seconds */
  retryAfterSeconds: (header: string | null) => number | null;
  /** The sessions of earlier calls of this process. */
  sessions?: Sessions;
}

const FAILURE_PAUSE_MS = 10_000;
const MOST_SESSIONS = 200;

/** The sessions of this process. Each belongs to one person and one of their grants. */
export type Sessions = Map<string, KeptSession>;

/** Calls tools as a person, on one connection. */
export function createToolCalls(options: ToolCallsOptions) {
  const { transport, tokens, pause, retryAfterSeconds, sessions = new Map<string, KeptSession>() } = options;

  function clientOf({ grant }: AccessToken): McpClient {
    const { connection, holder, grantId } = grant;
    const key = JSON.stringify([connection, holder.in, holder.id, grantId]);
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
    leaving?: Leaving<Grant>,
  ): Promise<T> {
    let refused: string | undefined;
    for (;;) {
      const access = await tokens.get(holder, refused);
      try {
        return await call(clientOf(access), access);
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        // Requests before the tool's call create nothing.
        const what = error.method === 'tools/call' ? history : 'repeatable';
        const outcome = toolOutcome(error, refused !== undefined);
        if (isRefusal(outcome)) leaving?.refused();
        const decision = decisions[outcome][what];
        if (decision === 'link again') await tokens.refuse(access.grant, saidBy(error));
        else if (decision !== 'refresh') return act(decision, error, access.grant);
        refused = access.grant.version;
      }
    }
  }

  async function act(
    decision: Exclude<ToolDecision, 'refresh' | 'link again'>,
    error: McpError,
    { grantId }: Grant,
  ): Promise<never> {
    const now = transport.clock();
    switch (decision) {
      case 'link with scope':
        throw new AccountNeeded('scope missing', grantId, {
          scopes: error instanceof McpRefusal ? missingScopes(error) : [],
          said: saidBy(error),
        });
      case 'wait for budget': {
        const seconds = error instanceof McpRefusal ? retryAfterSeconds(error.retryAfter) : null;
        const at = await pause(seconds === null ? undefined : seconds * 1000);
        throw new TryLater('the service wants fewer calls', { at, isForBudget: true, cause: error });
      }
      case 'retry later':
        throw new TryLater(error.message, { at: now + FAILURE_PAUSE_MS, cause: error });
      case 'look for it':
        throw new OutcomeUnknown(error.message, { cause: error });
      case 'tell':
        throw new CallRejected(error.message, { cause: error });
      case 'park':
        throw new InstanceTrouble(error.message, { cause: error });
    }
  }

  return {
    /**
     * Lists the tools that the person may call.
     * @param only their names; without it, all
     * @throws {GrantError | SecretError} and the errors of the transport's permit
     */
    list: (holder: Holder, only?: readonly string[]): Promise<ToolList> =>
      asPerson(holder, 'repeatable', (client, { token }) => client.listTools(token, only)),
    /**
     * Calls a tool. A creating call is sent once. It is sent again only after a refusal that shows that it was not
     * carried out.
     *
     * @param leaving receives what happens to each request of the call, and its grant
     * @param history `sent once`, unless a mapping or the tool's hints mark repetition as harmless
     * @throws {GrantError | SecretError} and the errors of the transport's permit
     */
    call: (
      holder: Holder,
      history: ToolHistory,
      tool: string,
      args: object,
      leaving?: Leaving<Grant>,
    ): Promise<ToolResult> =>
      asPerson(
        holder,
        history,
        (client, { token, grant }) =>
          client.callTool(token, tool, args, leaving && { ...leaving, mayLeave: () => leaving.mayLeave(grant) }),
        leaving,
      ),
  };
}

const saidBy = (error: McpError) => (error instanceof McpRefusal ? error.said : null);
