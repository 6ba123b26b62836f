import type { ToolCall } from '../../config/template.ts';
import { saidIn, type ToolAnswer } from '../../config/tool-answer.ts';
import {
  AccountFirst,
  type Interruption,
  NeedsOperator,
  NotDone,
  RetryAt,
  StepFailed,
} from '../../engine/record/interruption.ts';
import { type ActingRun, readingBy } from '../../engine/run/acting.ts';
import { createPauses, NO_BUDGET_PAUSE_MS, withBudget } from '../../engine/run/pauses.ts';
import type { Leaving } from '../../send-once.ts';
import { AccountNeeded, CallRejected, GrantError, OutcomeUnknown, TryLater } from '../grants/errors.ts';
import type { Grant, Holder } from '../grants/grant.ts';
import type { McpEndpoint, McpEndpointOptions } from '../grants/mcp-endpoint.ts';
import { ANSWER_TIMEOUT_MS } from '../protocol/exchange.ts';
import { fitArguments } from '../protocol/fit-arguments.ts';
import { schemaHash, type Tool } from '../protocol/tool.ts';
import type { KnownTools } from './known-tools.ts';

interface ToolAccessOptions extends ActingRun {
  knownTools: KnownTools;
  /** @throws {SecretError | BaseUrlError} if the connection's secret cannot be used */
  open: (run: Pick<McpEndpointOptions, 'connection' | 'limits' | 'lane' | 'waitUntil'>) => Promise<McpEndpoint>;
}

export type ToolAccess = ReturnType<typeof createToolAccess>;

const OTHER_GRANT =
  'The account with which Partner Relay sent your request is no longer linked, so it cannot check whether it was done';

/** The MCP endpoint of the connection, as one run of a job uses it for any person. */
export function createToolAccess(options: ToolAccessOptions) {
  const { knownTools, open, lane, budget, clock, once, privacy } = options;
  const { name: connection, mcpLimits: limits } = options.connection;
  const pauses = createPauses(options, ANSWER_TIMEOUT_MS);
  /** Returns the service's words for the person; empty if strangers can read the answer. */
  const inItsWords = (said: string) => (options.isPublic ? '' : `: ${said}`);
  let opened: Promise<McpEndpoint> | undefined;

  /** Opens the endpoint when the run first needs it. */
  function mcp(): Promise<McpEndpoint> {
    opened ??= options
      .ensureSignedByIntake()
      .then(() => open({ connection, limits, lane, waitUntil: pauses.untilSlot }));
    return opened;
  }

  const grantOf = async (holder: Holder) => (await mcp()).grants.get(connection, holder);

  function interruptionFor(error: unknown): Interruption | undefined {
    if (!(error instanceof GrantError)) return undefined;
    if (error instanceof OutcomeUnknown) return undefined;
    if (error instanceof AccountNeeded) {
      const why = options.isPublic ? error.inOwnWords : error.message;
      return new AccountFirst(`${why}. Link your account in Slack with the command link, then ask again`, error.scopes);
    }
    if (error instanceof TryLater) {
      const { at = clock() + NO_BUDGET_PAUSE_MS, isForBudget, message } = error;
      if (isForBudget) return new RetryAt(at, message, { waitsFor: 'budget' });
      return new StepFailed(privacy.noteOf(error), { cause: error });
    }
    if (error instanceof CallRejected) return new NotDone(`The service refuses this${inItsWords(error.message)}`);
    return new NeedsOperator(privacy.noteOf(error), { cause: error });
  }

  /** Returns the current tool, and the arguments in its spelling. */
  async function checked(holder: Holder, call: ToolCall): Promise<{ tool: Tool; args: object }> {
    const { tools } = await mcp();
    const isExpected = (tool: Tool) => schemaHash(tool) === call.schema;
    const list = (only: readonly string[]) => tools.list(holder, only);
    const tool = await knownTools.find(connection, call.tool, list, isExpected);
    if (!tool) {
      throw new NotDone(`The service does not list the tool ${call.tool} for your account. Tell your administrator`);
    }
    if (!isExpected(tool)) {
      throw new NeedsOperator(
        `the tool ${call.tool} has changed since relay.config.ts was written; run npx partner-relay mcp doctor, and correct its arguments and schema`,
      );
    }
    return { tool, args: fitArguments(tool, call.arguments) };
  }

  /** Converts the errors of tool calls. @throws {Interruption} */
  async function interrupting<T>(call: () => Promise<T>): Promise<T> {
    try {
      pauses.ensureTimeForCall();
      return await withBudget(call(), clock);
    } catch (error) {
      throw interruptionFor(error) ?? error;
    }
  }

  return {
    pauses,
    mcp,
    grantOf,
    checked,
    interrupting,
    /**
     * Calls a tool that changes nothing, once per job.
     * @param only the only grant allowed for the call; without it, the person's newest
     */
    read<Kept>(holder: Holder, step: string, call: ToolCall, keep: (answer: ToolAnswer) => Kept, only?: string) {
      // A reading call has nothing to record.
      const leaving: Leaving<Grant> = {
        async mayLeave({ grantId }) {
          pauses.ensureTimeForCall();
          if (only !== undefined && grantId !== only) throw new NotDone(OTHER_GRANT);
        },
        leaves() {},
        refused() {},
      };
      async function readOnce() {
        try {
          const { args } = await checked(holder, call);
          const { tools } = await mcp();
          const result = await tools.call(holder, 'repeatable', call.tool, args, leaving);
          if (!result.isError) return keep(result);
          throw new NotDone(`The service did not do this${inItsWords(saidIn(result))}`);
        } catch (error) {
          // After the person links again, the grant is another one, so waiting is pointless.
          if (only !== undefined && error instanceof AccountNeeded) throw new NotDone(OTHER_GRANT);
          throw error;
        }
      }
      return once.run(step, readingBy(call), () => interrupting(readOnce), privacy);
    },
    /** Reports to the budget how the run's calls ended. @throws {BudgetUnavailable} */
    async flush() {
      if (opened) await budget.flush((await opened).budgetName);
    },
  };
}
