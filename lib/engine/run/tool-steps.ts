import type { Assistant } from '../../as-person/grants/assistant.ts';
import type { Assistants } from '../../as-person/grants/assistants.ts';
import { CallRejected, GrantError, LinkNeeded, OutcomeUnknown, TryLater } from '../../as-person/grants/errors.ts';
import type { Grant, Holder } from '../../as-person/grants/grant.ts';
import { LINK_WAIT_MS } from '../../as-person/grants/link-waits.ts';
import { argumentsFault, fitArguments } from '../../as-person/protocol/check-arguments.ts';
import { ANSWER_TIMEOUT_MS } from '../../as-person/protocol/exchange.ts';
import { onOneLine } from '../../as-person/protocol/outside-text.ts';
import { schemaHash } from '../../as-person/protocol/schema-hash.ts';
import type { Tool, ToolList, ToolResult } from '../../as-person/protocol/tool.ts';
import { type Mark, sendOnce } from '../../send-once.ts';
import type { CallingRun } from '../line/calling-run.ts';
import { createPauses, NO_BUDGET_PAUSE_MS, withBudget } from '../line/pauses.ts';
import { type Interruption, NeedsOperator, NotDone, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Job } from '../record/job.ts';
import type { Journal, StepEntry } from '../record/journal.ts';
import { inOwnWords, type Privacy } from '../record/privacy.ts';
import { ofEarlierTable, type ReplacedTable } from '../record/replaced-table.ts';
import { LinkAwaited } from './link-awaited.ts';
import type { Once } from './once.ts';

/** A tool, and the arguments that it is called with. */
export interface ToolCall {
  tool: string;
  /** The hash of the schema that the arguments were made for: a tool that has changed since is not called. */
  schema: string;
  /** What only the spelling of the schema may change: ids as numbers or as texts, letter case of listed values. */
  arguments: Readonly<Record<string, unknown>>;
  /** Whether a person filled in the tool's form. They can do that again where the tool has changed. */
  isFilledIn?: boolean;
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

export interface ToolStepsOptions
  extends Pick<CallingRun, 'connection' | 'lane' | 'budget' | 'clock' | 'sleep' | 'deadline'> {
  assistants: Assistants;
  journal: Journal;
  once: Once;
  privacy: Privacy;
  /** How the job waited for a link before this run. */
  awaitedLink: Job['awaitedLink'];
  /** Whether strangers read what the person is told; then it does not have the service's own words. */
  isPublic: boolean;
  /** Before anything of a person is read. @throws {Interruption} for a job that intake did not make as it is */
  ensureOfIntake: () => Promise<void>;
  replacedTable: ReplacedTable;
  /** When the job's event happened at the earliest; epoch milliseconds. */
  happenedAt: number;
  /** Reports an error of the relay's own code that the job goes on after. */
  bug: (error: unknown) => void;
}

/**
 * When what may have been made is looked for, after the call has left. The last look comes after the service would have
 * been waited for twice.
 */
const LOOKS_AFTER_MS = [2_000, 15_000, 60_000];

const OTHER_LINK = 'The account that it was sent with is not linked any more, so the relay cannot look for it';

/** A call that changes nothing has nothing to note. */
const harmless = { leaves() {}, refused() {} };

/** Whether a call cannot be sent again, although it may have been carried out before: another link must not send it. */
const endsSending = (error: unknown): error is Error =>
  error instanceof LinkNeeded || error instanceof CallRejected || error instanceof NotDone;

const CHANGES = 'tool ';
const READS = 'reading tool ';
const LISTS = 'list of tools';

/** Whether a step, by what it calls, was a call that changes something. */
export const changesByTool = (calls: string): boolean => calls.startsWith(CHANGES);

/** The tools of one run of a job, for any person. */
export interface ToolStepsOfRun {
  as(holder: Holder): ToolSteps;
  /** Lets the budget know how the calls of the run ended. @throws {BudgetUnavailable} */
  flush(): Promise<void>;
}

export function createToolSteps(options: ToolStepsOptions): ToolStepsOfRun {
  const { assistants, lane, budget, journal, once, privacy, clock, bug } = options;
  const { name: connection, mcpLimits: limits } = options.connection;
  const pauses = createPauses(options, ANSWER_TIMEOUT_MS);
  const inItsWords = (said: string) => (options.isPublic ? '' : `: ${said}`);
  let opened: Promise<Assistant> | undefined;

  function open(): Promise<Assistant> {
    opened ??= options
      .ensureOfIntake()
      .then(() => assistants.open({ connection, limits, lane, waitUntil: pauses.untilSlot }));
    return opened;
  }

  /** @throws {Interruption} in place of what the calls of tools throw */
  async function interrupting<T>(holder: Holder, call: () => Promise<T>): Promise<T> {
    try {
      pauses.ensureTimeForCall();
      return await withBudget(call(), clock);
    } catch (error) {
      throw interruptionFor(error) ?? (error instanceof LinkNeeded ? awaitLink(holder, error) : error);
    }
  }

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
    const list = (only: readonly string[]) => tools.list(holder, only);
    const tool = await assistants.knownTools.find(connection, call.tool, list, isExpected);
    if (!tool) {
      throw new NotDone(
        `The service does not list the tool ${call.tool} for your account: it is gone, or the account lacks a scope`,
      );
    }
    if (!isExpected(tool)) {
      if (call.isFilledIn) throw changedSinceForm(call.tool);
      throw new NeedsOperator(
        `the tool ${call.tool} has changed since relay.config.ts was written; run relay mcp doctor, and correct its arguments and schema`,
      );
    }
    const args = fitArguments(tool, call.arguments);
    const fault = argumentsFault(tool, args);
    if (fault !== undefined) throw new NotDone(`The tool ${call.tool} does not take this${inItsWords(fault)}`);
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
    const leaving = {
      ...harmless,
      async mayLeave({ linkId }: Grant): Promise<void> {
        pauses.ensureTimeForCall();
        if (only !== undefined && linkId !== only) throw new NotDone(OTHER_LINK);
      },
    };
    const readOnce = () =>
      interrupting(holder, async () => {
        try {
          const { args } = await checked(holder, call);
          const result = await (await open()).tools.call(holder, 'repeatable', call.tool, args, leaving);
          if (result.isError) throw new NotDone(`The tool ${call.tool} does not do this${inItsWords(saidIn(result))}`);
          return keep(result);
        } catch (error) {
          // Linking again brings another link, so there is nothing to wait for.
          if (only !== undefined && error instanceof LinkNeeded) throw new NotDone(OTHER_LINK);
          throw error;
        }
      });
    return once.run(step, `${READS}${call.tool}`, readOnce, privacy);
  }

  /**
   * Sends the call. The journal says that it may have left before it does, and with which link.
   * @param before how it was sent in an earlier run, if that is open
   * @throws {OutcomeUnknown} if it may have been carried out, and must not be sent again
   * @throws {GrantError | Interruption}
   */
  async function send<Kept>(
    holder: Holder,
    step: string,
    call: ToolCall,
    keep: (result: ToolResult) => Kept,
    before: StepEntry['sent'],
  ): Promise<Made<Kept>> {
    const calls = `${CHANGES}${call.tool}`;
    let sent = before;
    const startedAt = clock();
    const { tool, args } = await checked(holder, call);
    const isRepeatable = tool.hints.idempotent;
    if (!before && !isRepeatable) await ensureOfThisTable(call.tool);
    const mark: Mark<Grant> = {
      async leaves({ linkId }) {
        pauses.ensureTimeForCall();
        if (before && before.linkId !== linkId)
          throw new OutcomeUnknown('the service did not answer, and the account was linked again since');
        if (sent?.linkId === linkId) return;
        sent = { linkId, isRepeatable };
        await once.write({ step, calls, status: 'begun', startedAt: clock(), sent });
      },
      // It may be sent again, also with another link.
      async refused(error) {
        const note = error instanceof Error ? inOwnWords(error) : String(error);
        await once.write({ step, calls, status: 'failed', startedAt, finishedAt: clock(), note });
      },
    };
    const { tools } = await open();
    const ended = await sendOnce(mark, before !== undefined, async (leaving): Promise<Made<Kept>> => {
      const history = isRepeatable ? 'repeatable' : 'sent once';
      const result = await tools.call(holder, history, call.tool, args, leaving);
      // A refusal says nothing about the call before.
      if (result.isError && before) throw new OutcomeUnknown('the tool answered with an error');
      return result.isError ? { became: 'failed', said: saidIn(result) } : { became: 'done', kept: keep(result) };
    });
    if (ended.became === 'accepted') return ended.result;
    const { error } = ended;
    if (ended.became === 'not carried out' || sent?.isRepeatable || error instanceof OutcomeUnknown) throw error;
    bug(error);
    throw new OutcomeUnknown('the relay could not read the answer', { cause: error });
  }

  /** After the table was lost or restored, nothing is sent for what the earlier one may have known. */
  async function ensureOfThisTable(tool: string): Promise<void> {
    const earlier = await ofEarlierTable(options.replacedTable, options.happenedAt, `the tool ${tool}`);
    if (!earlier) return;
    const todo = 'only the person can look: discard the job, and let the person ask again if it is not there';
    throw new NeedsOperator(`${earlier.unknown}; ${todo}`);
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
        const why = 'a call was not clearly answered; what it may have made is looked for';
        await pauses.until(startedAt + afterMs, why, 'answer');
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
    const calls = `${CHANGES}${call.tool}`;
    const known = journal.entry(step);
    const before = known?.status === 'done' ? undefined : known?.sent;
    if ((known?.status === 'begun' || before) && !before?.isRepeatable) {
      const { note = 'the relay was interrupted while it waited for the answer' } = known ?? {};
      const made = await lookFor(holder, step, find, note);
      return once.run(step, calls, async () => made, privacy);
    }
    let lost: Error | undefined;
    try {
      const attempt = () =>
        send(holder, step, call, keep, before).catch((error) => {
          if (error instanceof OutcomeUnknown || (before && endsSending(error))) lost = error;
          throw error;
        });
      return await once.run(step, calls, () => interrupting(holder, attempt), privacy);
    } catch (error) {
      if (!lost) throw error;
      const entry = journal.entry(step);
      // A later run of the job says the same.
      if (entry?.status === 'begun') await once.write({ ...entry, note: inOwnWords(lost) });
      const made = await lookFor(holder, step, find, lost.message);
      return once.run(step, calls, async () => made, privacy);
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
        once.run(
          step,
          LISTS,
          () =>
            interrupting(holder, async () => {
              const { tools } = await open();
              return keep(await tools.list(holder));
            }),
          privacy,
        ),
      read: (step, call, keep) => read(holder, step, call, keep),
      make: (step, call, keep, find) => make(holder, step, call, keep, find),
    }),
    async flush() {
      if (opened) await budget.flush((await opened).budgetName);
    },
  };
}

/** For the person who filled in the form of a tool. */
export const changedSinceForm = (tool: string): NotDone =>
  new NotDone(`The tool ${tool} has changed since the form was opened; please open it again`);

const MOST_SAID = 500;

/** What a tool says, as one short text. */
export function saidIn({ texts, otherKinds }: ToolResult): string {
  const said = onOneLine(texts.join(' ')).replaceAll(/\s+/g, ' ');
  if (said === '') return otherKinds.length > 0 ? `(${otherKinds.join(', ')})` : '(nothing)';
  return said.length > MOST_SAID ? `${said.slice(0, MOST_SAID - 1)}…` : said;
}
