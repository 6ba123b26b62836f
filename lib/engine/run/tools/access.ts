import type { Assistant } from '../../../as-person/grants/assistant.ts';
import type { Assistants } from '../../../as-person/grants/assistants.ts';
import { CallRejected, GrantError, LinkNeeded, OutcomeUnknown, TryLater } from '../../../as-person/grants/errors.ts';
import type { Grant, Holder } from '../../../as-person/grants/grant.ts';
import { LINK_WAIT_MS } from '../../../as-person/grants/link-waits.ts';
import { argumentsFault, fitArguments } from '../../../as-person/protocol/check-arguments.ts';
import { ANSWER_TIMEOUT_MS } from '../../../as-person/protocol/exchange.ts';
import { schemaHash } from '../../../as-person/protocol/schema-hash.ts';
import type { Tool } from '../../../as-person/protocol/tool.ts';
import type { CallingRun } from '../../line/calling-run.ts';
import { createPauses, NO_BUDGET_PAUSE_MS, type Pauses, withBudget } from '../../line/pauses.ts';
import { type Interruption, NeedsOperator, NotDone, RetryAt, StepFailed } from '../../record/interruption.ts';
import type { Job } from '../../record/job.ts';
import { inOwnWords } from '../../record/privacy.ts';
import { LinkAwaited } from '../link-awaited.ts';
import type { ToolCall } from './call.ts';

export interface ToolAccessOptions
  extends Pick<CallingRun, 'connection' | 'lane' | 'budget' | 'clock' | 'sleep' | 'deadline'> {
  assistants: Assistants;
  /** How the job waited for a link before this run. */
  awaitedLink: Job['awaitedLink'];
  /** Whether strangers read the message. If so, it omits the service's own words. */
  isPublic: boolean;
  /** Before anything of a person is read. @throws {Interruption} for a job that intake did not make as it is */
  ensureSignedByIntake: () => Promise<void>;
}

/** The MCP endpoint of the connection, as one run of a job uses it for any person. */
export interface ToolAccess {
  pauses: Pauses;
  /** Opened when the run needs it first. */
  assistant(): Promise<Assistant>;
  grantOf(holder: Holder): Promise<Grant | undefined>;
  /** The tool as it is now, and the arguments as it spells them. Nothing is sent that its schema refuses. */
  checked(holder: Holder, call: ToolCall): Promise<{ tool: Tool; args: object }>;
  /** @throws {Interruption} in place of what the calls of tools throw */
  interrupting<T>(holder: Holder, call: () => Promise<T>): Promise<T>;
  /** What the service said, for the person. Empty if strangers read it. */
  inItsWords(said: string): string;
  /** Lets the budget know how the calls of the run ended. @throws {BudgetUnavailable} */
  flush(): Promise<void>;
}

export function createToolAccess(options: ToolAccessOptions): ToolAccess {
  const { assistants, lane, budget, clock } = options;
  const { name: connection, mcpLimits: limits } = options.connection;
  const pauses = createPauses(options, ANSWER_TIMEOUT_MS);
  const inItsWords = (said: string) => (options.isPublic ? '' : `: ${said}`);
  let opened: Promise<Assistant> | undefined;

  function assistant(): Promise<Assistant> {
    opened ??= options
      .ensureSignedByIntake()
      .then(() => assistants.open({ connection, limits, lane, waitUntil: pauses.untilSlot }));
    return opened;
  }

  const grantOf = async (holder: Holder) => (await assistant()).grants.get(connection, holder);

  function interruptionFor(error: unknown): Interruption | undefined {
    if (!(error instanceof GrantError)) return undefined;
    if (error instanceof LinkNeeded || error instanceof OutcomeUnknown) return undefined;
    if (error instanceof TryLater) {
      const { at = clock() + NO_BUDGET_PAUSE_MS, isForBudget, message } = error;
      if (isForBudget) return new RetryAt(at, message, { waitsFor: 'budget' });
      return new StepFailed(inOwnWords(error), { cause: error });
    }
    if (error instanceof CallRejected) return new NotDone(`The service does not take this${inItsWords(error.message)}`);
    return new NeedsOperator(inOwnWords(error), { cause: error });
  }

  /** The job waits until the person has linked their account, for a day. */
  function awaitLink(holder: Holder, needed: LinkNeeded): Interruption {
    const now = clock();
    const before = options.awaitedLink;
    // Another unusable link begins another wait.
    const since = before?.instead === needed.linkId ? before.since : now;
    if (now >= since + LINK_WAIT_MS)
      return new NotDone('Your account was not linked within a day. Link it, and ask again');
    const isOver = async () => {
      const grant = await grantOf(holder);
      return grant !== undefined && grant.death === undefined && grant.linkId !== needed.linkId;
    };
    return new LinkAwaited(needed, { connection, holder, since, now, isOver });
  }

  return {
    pauses,
    assistant,
    grantOf,
    inItsWords,
    async checked(holder, call) {
      const { tools } = await assistant();
      const isExpected = (tool: Tool) => schemaHash(tool) === call.schema;
      const list = (only: readonly string[]) => tools.list(holder, only);
      const tool = await assistants.knownTools.find(connection, call.tool, list, isExpected);
      if (!tool) {
        throw new NotDone(
          `The service does not list the tool ${call.tool} for your account: it is gone, or the account lacks a scope`,
        );
      }
      if (!isExpected(tool)) {
        throw new NeedsOperator(
          `the tool ${call.tool} has changed since relay.config.ts was written; run relay mcp doctor, and correct its arguments and schema`,
        );
      }
      const args = fitArguments(tool, call.arguments);
      const fault = argumentsFault(tool, args);
      if (fault !== undefined) throw new NotDone(`The tool ${call.tool} does not take this${inItsWords(fault)}`);
      return { tool, args };
    },
    async interrupting(holder, call) {
      try {
        pauses.ensureTimeForCall();
        return await withBudget(call(), clock);
      } catch (error) {
        throw interruptionFor(error) ?? (error instanceof LinkNeeded ? awaitLink(holder, error) : error);
      }
    },
    async flush() {
      if (opened) await budget.flush((await opened).budgetName);
    },
  };
}
