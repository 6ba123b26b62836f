import type { Budget } from '../budget/budget.ts';
import { BudgetUnavailable } from '../budget/budget-store.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Limits } from '../budget/window.ts';
import type { Assistant } from '../grants/assistant.ts';
import type { Assistants } from '../grants/assistants.ts';
import { CallRejected, GrantError, LinkNeeded, OutcomeUnknown, TryLater } from '../grants/errors.ts';
import type { Holder } from '../grants/grant.ts';
import { ANSWER_TIMEOUT_MS } from '../mcp/exchange.ts';
import { fitArguments } from '../mcp/fit.ts';
import { onOneLine } from '../mcp/outside-text.ts';
import { schemaHash } from '../mcp/schema-hash.ts';
import type { Tool, ToolList, ToolResult } from '../mcp/tool.ts';
import { argumentsFault } from '../mcp/validate-arguments.ts';
import { type Interruption, NeedsOperator, NotDone, RetryAt, StepFailed } from './interruption.ts';
import { LeaseLost } from './job-store.ts';
import type { Journal } from './journal.ts';
import { LinkAwaited } from './link-awaited.ts';
import type { Once } from './once.ts';

/** A tool, and the arguments that it is called with. */
export interface ToolCall {
  tool: string;
  /** The hash of the schema that the arguments were made for: a tool that has changed since is not called. */
  schema: string;
  /** What only the spelling of the schema may change: ids as numbers or as texts, letter case of listed values. */
  arguments: Readonly<Record<string, unknown>>;
}

/**
 * What became of a call that changes something.
 * - `done`: the tool did it
 * - `failed`: the tool itself says that it did not, and why
 * - `unknown`: it was sent, and it is unknown whether it was carried out
 */
export type Made<Kept> =
  | { became: 'done'; kept: Kept }
  | { became: 'failed'; said: string }
  | { became: 'unknown'; why: string };

/** Calls of tools as one person, each carried out once per job. */
export interface ToolSteps {
  /** Whether the person has linked an account, be it one that cannot be used any more. */
  isLinked(): Promise<boolean>;
  /** The tools that the person may call. */
  list<Kept>(step: string, keep: (list: ToolList) => Kept): Promise<Kept>;
  /** Calls a tool that changes nothing. @param keep what of the result the job needs later; small, for it is journalled */
  read<Kept>(step: string, call: ToolCall, keep: (result: ToolResult) => Kept): Promise<Kept>;
  /**
   * Calls a tool that changes something: once at most, unless the tool says of itself that it may be repeated.
   *
   * @param find looks for what a call has made whose answer was lost; each look is a step of its own
   */
  make<Kept>(
    step: string,
    call: ToolCall,
    keep: (result: ToolResult) => Kept,
    find?: (step: string) => Promise<Kept | undefined>,
  ): Promise<Made<Kept>>;
}

export interface ToolStepsOptions {
  assistants: Assistants;
  connection: string;
  /** `connections.<name>.mcp.limits` of the configuration. */
  limits: Limits;
  lane: Lane;
  budget: Budget;
  journal: Journal;
  once: Once;
  /** Whether strangers read what the person is told; then it does not have the service's own words. */
  isPublic: boolean;
  /** Whether no other worker has taken the job over. */
  isHeld: () => Promise<boolean>;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended. Epoch milliseconds. */
  deadline: number;
}

/** Waits up to this long stay in the run. */
const LONGEST_PAUSE_MS = 8_000;
/** How long a budget that cannot be read or written is left alone. */
const NO_BUDGET_PAUSE_MS = 30_000;
/** The budget may open sooner than it says: limits change, and pauses are lifted. */
const LONGEST_WAIT_MS = 5 * 60_000;
/**
 * When what may have been made is looked for, after the call has left. The last look comes after the service would have
 * been waited for twice.
 */
const LOOKS_AFTER_MS = [2_000, 15_000, 60_000];

/** Whether a step, by what it calls, was a call that changes something. */
export const changesByTool = (calls: string): boolean => calls.startsWith('tool ');

/** The tools of one run of a job, of whichever person. */
export interface ToolStepsOfRun {
  as(holder: Holder): ToolSteps;
  /** Lets the budget know how the calls of the run ended. @throws {BudgetUnavailable} */
  flush(): Promise<void>;
}

export function createToolSteps(options: ToolStepsOptions): ToolStepsOfRun {
  const { assistants, connection, limits, lane, budget, journal, isHeld, once, clock, sleep, deadline } = options;
  const inItsWords = (said: string) => (options.isPublic ? '' : `: ${said}`);
  let opened: Promise<Assistant> | undefined;

  function open(): Promise<Assistant> {
    opened ??= assistants.open({ connection, limits, lane, waitUntil });
    return opened;
  }

  async function waitUntil(at: number, why: string): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + ANSWER_TIMEOUT_MS > deadline) {
      throw new RetryAt(Math.min(at, clock() + LONGEST_WAIT_MS), why);
    }
    if (ms > 0) await sleep(ms);
  }

  function ensureTime(): void {
    if (clock() + ANSWER_TIMEOUT_MS > deadline) throw new RetryAt(clock(), 'this run has no time left for a call');
  }

  /** @throws {Interruption} in place of what the calls of tools throw */
  async function interrupting<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw interruptionFor(error) ?? (error instanceof LinkNeeded ? await awaitLink(error) : error);
    }
  }

  function interruptionFor(error: unknown): Interruption | undefined {
    if (error instanceof BudgetUnavailable) return new RetryAt(clock() + NO_BUDGET_PAUSE_MS, error.message);
    if (!(error instanceof GrantError)) return undefined;
    if (error instanceof LinkNeeded || error instanceof OutcomeUnknown) return undefined;
    if (error instanceof TryLater) {
      const { at = clock() + NO_BUDGET_PAUSE_MS, isForBudget, message } = error;
      return isForBudget ? new RetryAt(at, message) : new StepFailed(message, { cause: error });
    }
    if (error instanceof CallRejected) return new NotDone(`The service does not take this${inItsWords(error.message)}`);
    return new NeedsOperator(error.message, { cause: error });
  }

  /** The job waits until the person has linked their account, for a day. */
  async function awaitLink(error: LinkNeeded): Promise<Interruption> {
    const step = 'wait for the link';
    const startedAt = journal.entry(step)?.startedAt ?? clock();
    const awaited = new LinkAwaited(error, startedAt, clock());
    if (clock() >= awaited.until)
      return new NotDone('Your account was not linked within a day. Link it, and ask again');
    if (!journal.entry(step)) await once.write({ step, calls: 'account link', status: 'begun', startedAt });
    return awaited;
  }

  /** The tool as it is now, and the arguments as it spells them. Nothing is sent that its schema refuses. */
  async function checked(holder: Holder, call: ToolCall): Promise<{ tool: Tool; args: object }> {
    const { tools } = await open();
    const isExpected = (tool: Tool) => schemaHash(tool) === call.schema;
    const tool = await assistants.knownTools.find(connection, call.tool, () => tools.list(holder), isExpected);
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
    const args = fitArguments(tool.inputSchema, call.arguments) as object;
    const fault = argumentsFault(tool, args);
    if (fault !== undefined) throw new NotDone(`The tool ${call.tool} does not take this: ${fault}`);
    return { tool, args };
  }

  function read<Kept>(holder: Holder, step: string, call: ToolCall, keep: (result: ToolResult) => Kept): Promise<Kept> {
    return once.run(step, `reading tool ${call.tool}`, () =>
      interrupting(async () => {
        ensureTime();
        const { args } = await checked(holder, call);
        const result = await (await open()).tools.call(holder, 'repeatable', call.tool, args, async () => ensureTime());
        if (result.isError) throw new NotDone(`The tool ${call.tool} does not do this${inItsWords(saidIn(result))}`);
        return keep(result);
      }),
    );
  }

  /** Sends the call. From when it may have left, the journal says so. @throws {OutcomeUnknown | Interruption} */
  async function send<Kept>(
    holder: Holder,
    step: string,
    call: ToolCall,
    keep: (result: ToolResult) => Kept,
  ): Promise<Made<Kept>> {
    const calls = `tool ${call.tool}`;
    let begunAt: number | undefined;
    try {
      ensureTime();
      const { tool, args } = await checked(holder, call);
      const history = tool.hints.idempotent ? 'repeatable' : 'creating';
      const result = await (await open()).tools.call(holder, history, call.tool, args, async () => {
        ensureTime();
        if (history === 'repeatable' || begunAt !== undefined) return;
        begunAt = clock();
        await once.write({ step, calls, status: 'begun', startedAt: begunAt });
        // In this order: a worker that claims the job after this check reads the journal even later, and does not send.
        if (!(await isHeld())) throw new LeaseLost(step);
      });
      return result.isError ? { became: 'failed', said: saidIn(result) } : { became: 'done', kept: keep(result) };
    } catch (error) {
      // Whatever else comes of it, it was not carried out, and may be sent again.
      const isOpen = error instanceof OutcomeUnknown || error instanceof LeaseLost;
      if (begunAt !== undefined && !isOpen) {
        const note = error instanceof Error ? error.message : String(error);
        await once.write({ step, calls, status: 'failed', startedAt: begunAt, finishedAt: clock(), note });
      }
      throw error;
    }
  }

  async function lookFor<Kept>(
    step: string,
    find: ((step: string) => Promise<Kept | undefined>) | undefined,
    why: string,
  ): Promise<Made<Kept>> {
    const sentAt = journal.entry(step)?.startedAt ?? clock();
    if (!find) return { became: 'unknown', why };
    try {
      for (const [index, afterMs] of LOOKS_AFTER_MS.entries()) {
        await waitUntil(sentAt + afterMs, 'a call was not clearly answered; what it may have made is looked for');
        const kept = await find(`${step}: look ${index + 1}`);
        if (kept !== undefined) return { became: 'done', kept };
      }
    } catch (error) {
      if (error instanceof NotDone) return { became: 'unknown', why: `${why}. ${error.message}` };
      throw error;
    }
    return { became: 'unknown', why: `${why}; it is not in the list` };
  }

  async function make<Kept>(
    holder: Holder,
    step: string,
    call: ToolCall,
    keep: (result: ToolResult) => Kept,
    find: ((step: string) => Promise<Kept | undefined>) | undefined,
  ): Promise<Made<Kept>> {
    const calls = `tool ${call.tool}`;
    const known = journal.entry(step);
    if (known?.status === 'begun') {
      const made = await lookFor(step, find, 'the relay was interrupted while it waited for the answer');
      return once.run(step, calls, async () => made);
    }
    let lost: OutcomeUnknown | undefined;
    try {
      return await once.run(step, calls, () =>
        interrupting(() => send(holder, step, call, keep)).catch((error) => {
          if (error instanceof OutcomeUnknown) lost = error;
          throw error;
        }),
      );
    } catch (error) {
      if (!lost) throw error;
      const made = await lookFor(step, find, lost.message);
      return once.run(step, calls, async () => made);
    }
  }

  return {
    as: (holder) => ({
      isLinked: async () => (await (await open()).grants.get(connection, holder)) !== undefined,
      list: (step, keep) =>
        once.run(step, 'list of tools', () =>
          interrupting(async () => {
            ensureTime();
            return keep(await (await open()).tools.list(holder));
          }),
        ),
      read: (step, call, keep) => read(holder, step, call, keep),
      make: (step, call, keep, find) => make(holder, step, call, keep, find),
    }),
    async flush() {
      if (opened) await budget.flush((await opened).budgetName);
    },
  };
}

const MOST_SAID = 500;

/** What a tool says, as one short text. */
export function saidIn({ texts, otherKinds }: ToolResult): string {
  const said = onOneLine(texts.join(' ')).replaceAll(/\s+/g, ' ');
  if (said === '') return otherKinds.length > 0 ? `(${otherKinds.join(', ')})` : '(nothing)';
  return said.length > MOST_SAID ? `${said.slice(0, MOST_SAID - 1)}…` : said;
}
