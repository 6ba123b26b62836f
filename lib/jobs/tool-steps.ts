import type { Budget } from '../budget/budget.ts';
import { BudgetUnavailable } from '../budget/budget-store.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Limits } from '../budget/window.ts';
import type { Assistant } from '../grants/assistant.ts';
import type { Assistants } from '../grants/assistants.ts';
import { CallRejected, GrantError, LinkNeeded, OutcomeUnknown, TryLater } from '../grants/errors.ts';
import type { Grant, Holder } from '../grants/grant.ts';
import { LINK_WAIT_MS } from '../grants/link-waits.ts';
import { ANSWER_TIMEOUT_MS } from '../mcp/exchange.ts';
import { fitArguments } from '../mcp/fit.ts';
import { onOneLine } from '../mcp/outside-text.ts';
import { schemaHash } from '../mcp/schema-hash.ts';
import type { Tool, ToolList, ToolResult } from '../mcp/tool.ts';
import { argumentsFault } from '../mcp/validate-arguments.ts';
import { type Interruption, NeedsOperator, NotDone, RetryAt, StepFailed } from './interruption.ts';
import type { Job } from './job.ts';
import { LeaseLost } from './job-store.ts';
import type { Journal, StepEntry } from './journal.ts';
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
  /** Whether the person has linked an account, and whether it can still be used. */
  linked(): Promise<'no' | 'dead' | 'yes'>;
  /** The tools that the person may call. */
  list<Kept>(step: string, keep: (list: ToolList) => Kept): Promise<Kept>;
  /** Calls a tool that changes nothing. @param keep what of the result the job needs later; small, for it is journalled */
  read<Kept>(step: string, call: ToolCall, keep: (result: ToolResult) => Kept): Promise<Kept>;
  /**
   * Calls a tool that changes something: once at most, unless the tool says of itself that it may be repeated.
   *
   * @param find looks for what a call has made whose answer was lost; each look is a step of its own. It reads with the
   * link that the call was sent with, because another account may see other things.
   */
  make<Kept>(step: string, call: ToolCall, keep: (result: ToolResult) => Kept, find?: Find<Kept>): Promise<Made<Kept>>;
}

type Find<Kept> = (reader: Pick<ToolSteps, 'read'>, step: string) => Promise<Kept | undefined>;

export interface ToolStepsOptions {
  assistants: Assistants;
  connection: string;
  /** `connections.<name>.mcp.limits` of the configuration. */
  limits: Limits;
  lane: Lane;
  budget: Budget;
  journal: Journal;
  once: Once;
  /** How the job waited for a link before this run. */
  awaitedLink: Job['awaitedLink'];
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

const OTHER_LINK = 'The account that it was sent with is not linked any more, so the relay cannot look for it';

/** Whether a call that was sent may have been carried out, by what came of it. */
function isOpen(error: unknown, { isRepeatable }: NonNullable<StepEntry['sent']>): boolean {
  if (error instanceof OutcomeUnknown || error instanceof LeaseLost) return true;
  return isRepeatable && error instanceof TryLater && !error.isForBudget;
}

/** Whether a call cannot be sent again, although it may have been carried out before: another link must not send it. */
const endsSending = (error: unknown): error is Error =>
  error instanceof LinkNeeded || error instanceof CallRejected || error instanceof NotDone;

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
      throw new RetryAt(Math.min(at, clock() + LONGEST_WAIT_MS), why, { waitsFor: 'budget' });
    }
    if (ms > 0) await sleep(ms);
  }

  function ensureTime(): void {
    if (clock() + ANSWER_TIMEOUT_MS > deadline) throw new RetryAt(clock(), 'this run has no time left for a call');
  }

  /** @throws {Interruption} in place of what the calls of tools throw */
  async function interrupting<T>(holder: Holder, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw interruptionFor(error) ?? (error instanceof LinkNeeded ? awaitLink(holder, error) : error);
    }
  }

  function interruptionFor(error: unknown): Interruption | undefined {
    if (error instanceof BudgetUnavailable)
      return new RetryAt(clock() + NO_BUDGET_PAUSE_MS, error.message, { waitsFor: 'outage' });
    if (!(error instanceof GrantError)) return undefined;
    if (error instanceof LinkNeeded || error instanceof OutcomeUnknown) return undefined;
    if (error instanceof TryLater) {
      const { at = clock() + NO_BUDGET_PAUSE_MS, isForBudget, message } = error;
      return isForBudget ? new RetryAt(at, message, { waitsFor: 'budget' }) : new StepFailed(message, { cause: error });
    }
    if (error instanceof CallRejected) return new NotDone(`The service does not take this${inItsWords(error.message)}`);
    return new NeedsOperator(error.message, { cause: error });
  }

  /** The job waits until the person has linked their account, for a day. */
  function awaitLink(holder: Holder, needed: LinkNeeded): Interruption {
    const now = clock();
    const before = options.awaitedLink;
    // Another link that does not do begins another wait.
    const since = before?.instead === needed.linkId ? before.since : now;
    if (now >= since + LINK_WAIT_MS)
      return new NotDone('Your account was not linked within a day. Link it, and ask again');
    const isOver = async () => {
      const grant = await grantOf(holder);
      return grant !== undefined && grant.death === undefined && grant.linkId !== needed.linkId;
    };
    return new LinkAwaited(needed, { connection, holder, since, now, isOver });
  }

  const grantOf = async (holder: Holder) => (await open()).grants.get(connection, holder);

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

  /** @param only the one link that it may be read with; without it, the person's newest */
  function read<Kept>(
    holder: Holder,
    step: string,
    call: ToolCall,
    keep: (result: ToolResult) => Kept,
    only?: string,
  ): Promise<Kept> {
    async function ensureMayRead(grant: Grant): Promise<void> {
      ensureTime();
      if (only !== undefined && grant.linkId !== only) throw new NotDone(OTHER_LINK);
    }
    return once.run(step, `reading tool ${call.tool}`, () =>
      interrupting(holder, async () => {
        ensureTime();
        try {
          const { args } = await checked(holder, call);
          const result = await (await open()).tools.call(holder, 'repeatable', call.tool, args, ensureMayRead);
          if (result.isError) throw new NotDone(`The tool ${call.tool} does not do this${inItsWords(saidIn(result))}`);
          return keep(result);
        } catch (error) {
          // Linking again brings another link, so there is nothing to wait for.
          if (only !== undefined && error instanceof LinkNeeded) throw new NotDone(OTHER_LINK);
          throw error;
        }
      }),
    );
  }

  /**
   * Sends the call. From when it may have left, the journal says so, and with which link.
   * @param before how it was sent in an earlier run, if that is open
   * @throws {OutcomeUnknown | GrantError | Interruption}
   */
  async function send<Kept>(
    holder: Holder,
    step: string,
    call: ToolCall,
    keep: (result: ToolResult) => Kept,
    before: StepEntry['sent'],
  ): Promise<Made<Kept>> {
    const calls = `tool ${call.tool}`;
    let sent = before;
    const startedAt = clock();
    try {
      ensureTime();
      const { tool, args } = await checked(holder, call);
      const isRepeatable = tool.hints.idempotent;
      const history = isRepeatable ? 'repeatable' : 'creating';
      const result = await (await open()).tools.call(holder, history, call.tool, args, async ({ linkId }) => {
        ensureTime();
        if (before && before.linkId !== linkId)
          throw new OutcomeUnknown('the service did not answer, and the account was linked again since');
        if (sent?.linkId === linkId) return;
        sent = { linkId, isRepeatable };
        await once.write({ step, calls, status: 'begun', startedAt: clock(), sent });
        // In this order: a worker that claims the job after this check reads the journal even later, and does not send.
        if (!(await isHeld())) throw new LeaseLost(step);
      });
      // A refusal says nothing about the call before.
      if (result.isError && before) throw new OutcomeUnknown(saidIn(result));
      return result.isError ? { became: 'failed', said: saidIn(result) } : { became: 'done', kept: keep(result) };
    } catch (error) {
      // Whatever else comes of it, it was not carried out, and may be sent again, also with another link.
      if (sent && !before && !isOpen(error, sent)) {
        const note = error instanceof Error ? error.message : String(error);
        await once.write({ step, calls, status: 'failed', startedAt, finishedAt: clock(), note });
      }
      throw error;
    }
  }

  async function lookFor<Kept>(
    holder: Holder,
    step: string,
    find: Find<Kept> | undefined,
    why: string,
  ): Promise<Made<Kept>> {
    const { startedAt = clock(), sent } = journal.entry(step) ?? {};
    if (!find) return { became: 'unknown', why };
    // No link has an empty id.
    const only = sent?.linkId ?? '';
    const reader: Pick<ToolSteps, 'read'> = { read: (look, call, keep) => read(holder, look, call, keep, only) };
    try {
      for (const [index, afterMs] of LOOKS_AFTER_MS.entries()) {
        await waitUntil(startedAt + afterMs, 'a call was not clearly answered; what it may have made is looked for');
        const kept = await find(reader, `${step}: look ${index + 1}`);
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
    find: Find<Kept> | undefined,
  ): Promise<Made<Kept>> {
    const calls = `tool ${call.tool}`;
    const known = journal.entry(step);
    const before = known?.status === 'done' ? undefined : known?.sent;
    if ((known?.status === 'begun' || before) && !before?.isRepeatable) {
      const why = 'the relay was interrupted while it waited for the answer';
      const made = await lookFor(holder, step, find, why);
      return once.run(step, calls, async () => made);
    }
    let lost: Error | undefined;
    try {
      return await once.run(step, calls, () =>
        interrupting(holder, () =>
          send(holder, step, call, keep, before).catch((error) => {
            if (error instanceof OutcomeUnknown || (before && endsSending(error))) lost = error;
            throw error;
          }),
        ),
      );
    } catch (error) {
      if (!lost) throw error;
      const made = await lookFor(holder, step, find, lost.message);
      return once.run(step, calls, async () => made);
    }
  }

  return {
    as: (holder) => ({
      async linked() {
        const grant = await grantOf(holder);
        if (!grant) return 'no';
        return grant.death ? 'dead' : 'yes';
      },
      list: (step, keep) =>
        once.run(step, 'list of tools', () =>
          interrupting(holder, async () => {
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
