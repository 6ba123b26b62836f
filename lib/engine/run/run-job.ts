import { randomUUID } from 'node:crypto';
import type { Assistants } from '../../as-person/grants/assistants.ts';
import { createLinkWaits } from '../../as-person/grants/link-waits.ts';
import type { Budget } from '../../service/budget/budget.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import { isOfPeople } from '../../service/budget/lanes.ts';
import type { StrangerShare } from '../../service/budget/stranger-share.ts';
import type { Breakers } from '../../service/connection/breakers.ts';
import type { Connection } from '../../service/connection/connection.ts';
import { BaseUrlError } from '../../service/partner/base-url.ts';
import { SecretError } from '../../state/secrets/secrets.ts';
import type { Table } from '../../state/table/table.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import type { CallNews } from '../line/calling-run.ts';
import { type JobMessage, type JobQueue, LONGEST_SLEEP_MS } from '../line/queue.ts';
import { createStrangerTurn } from '../line/stranger-turn.ts';
import { requeueJob } from '../line/sweep.ts';
import type { WaitingLines } from '../line/waiting-line.ts';
import type { Waited, WaitsFor } from '../record/history.ts';
import { InLine, NeedsOperator, NotDone, Refused, RetryAt, StepFailed } from '../record/interruption.ts';
import type { Job, ParkKind, UnfinishedStep } from '../record/job.ts';
import type { JobSignatures } from '../record/job-signatures.ts';
import { type JobStore, LeaseLost, type Wait } from '../record/job-store.ts';
import { openJournal } from '../record/journal.ts';
import { createPrivacy, DONE_AS_PERSON, NOT_DONE_AS_PERSON } from '../record/privacy.ts';
import { happenedAt, type ReplacedTable } from '../record/replaced-table.ts';
import type { Automation } from './automation.ts';
import { createCreations } from './creations.ts';
import { LinkAwaited } from './link-awaited.ts';
import { createOnce, type SendNews, type StepNews } from './once.ts';
import { createPartnerCalls, type PartnerCalls } from './partner-calls.ts';
import { createReplySteps } from './reply-steps.ts';
import { sentTooOften } from './sent-too-often.ts';
import { createSteps, type Steps } from './steps.ts';
import { createTellPerson, type Replies, type ReplyContent, type TellPerson } from './tell-person.ts';
import { createToolSteps, type ToolStepsOfRun } from './tool-steps.ts';

/** How many failed steps and crashes park a job. With the pauses below, that takes about half an hour. */
export const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 2_000;
/** The step that stores why a job is not done. */
const NOT_DONE = 'not done';

/** An event of a job, for logs and metrics. It never has a payload. */
export type JobNews =
  | ({ job: Job } & (StepNews | SendNews | CallNews))
  | { news: 'continues'; job: Job; wait: Waited }
  | { news: 'succeeded'; job: Job; outcome: string; notDone: boolean }
  | { news: 'waiting'; job: Job; dueAt: number; why: string; waitsFor: WaitsFor }
  | { news: 'in line'; job: Job; expectedAt: number | undefined; why: string; waitsFor: WaitsFor }
  | { news: 'parked'; job: Job; reason: string; kind: ParkKind }
  | { news: 'bug'; job: Job; error: unknown }
  | { news: 'untold'; job: Job; error: unknown }
  | { news: 'line stands still'; job: Job; error: unknown };

export interface RunJobOptions {
  table: Table;
  jobs: JobStore;
  queue: JobQueue;
  lines: WaitingLines;
  budget: Budget;
  breakers: Breakers;
  replacedTable: ReplacedTable;
  strangers: StrangerShare;
  connection: (name: string) => Connection | undefined;
  assistants: Assistants;
  signatures: Pick<JobSignatures, 'isSigned'>;
  automation: (name: string) => Automation | undefined;
  replies: Replies;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Returns a number between 0 and 1, for the jitter of retries. */
  random: () => number;
  report: (news: JobNews) => void;
}

/** `done` if the message can be deleted; otherwise how long it sleeps. */
export type MessageFate = { sleepMs: number } | 'done';

/** A message that was received this often is replaced, so that waiting never moves it to the dead-letter queue. */
const MOST_RECEIVES = 20;

export interface ReceivedJobMessage extends JobMessage {
  /** How often it was received, including this time. */
  receives: number;
  /** When it was sent, in epoch milliseconds. */
  sentAt: number;
}

/**
 * Runs the job of one message until it has ended or has to wait.
 *
 * @param deadline when the caller is stopped, in epoch milliseconds; the lease ends at the same time
 */
export async function runJob(
  message: ReceivedJobMessage,
  deadline: number,
  options: RunJobOptions,
): Promise<MessageFate> {
  const { jobs, clock } = options;
  if (await stoodInLine(message, options)) return 'done';
  const claimed = await jobs.claim(message.jobId, message.generation, randomUUID(), deadline);
  if ('unclaimed' in claimed) {
    if (!('until' in claimed)) return 'done';
    return sleepOrLeave(claimed.until - clock());
  }
  try {
    const { ending, left, ...made } = await runAutomation(claimed, deadline, options).catch(unreadableJournal);
    const limited = made.calls?.rateLimits.limited();
    const fate = await settle(claimed, { ...ending, ...left, ...(limited && { limited }) }, message, options);
    await endCalls(claimed, ending, made, options);
    return fate;
  } catch (error) {
    // The worker that took over runs the job now, and has its own message or one from the sweep.
    if (error instanceof LeaseLost) return 'done';
    if (!(error instanceof UnreadableItem)) throw error;
    // Its journal, which decides what may be sent.
    const ending = {
      ended: 'parked',
      reason: error.message,
      kind: 'needs an operator',
      outcomeUnknown: false,
    } as const;
    return settle(claimed, { ...ending, unfinished: [], hasGotOn: false }, message, options);
  }
}

/** Nothing can be sent, or be told to the person who asked, without the journal. */
function unreadableJournal(error: unknown): { ending: Ending; left: LeftByRun } & CallsOfRun {
  if (!(error instanceof UnreadableItem)) throw error;
  const ending = { ended: 'parked', reason: error.message, kind: 'needs an operator', outcomeUnknown: false } as const;
  return { ending, left: { unfinished: [], hasGotOn: false } };
}

/**
 * Sends a new background job to the end of the waiting line without starting it. Thousands may arrive at once, and jobs
 * called from the line must not wait behind them. A person's job runs first, so that the person is told what it waits
 * for.
 */
async function stoodInLine(message: JobMessage, { jobs, budget, connection }: RunJobOptions): Promise<boolean> {
  const { jobId: id, generation, of } = message;
  const limits = of && connection(of.connection)?.limits;
  if (of?.lane !== 'background' || !limits) return false;
  try {
    if (!(await budget.mustStand(of.connection, limits, of.lane))) return false;
  } catch (error) {
    // The run itself then waits for the budget as usual.
    if (error instanceof BudgetUnavailable) return false;
    throw error;
  }
  return jobs.standInLineAtOnce({ id, generation, ...of }, 'other jobs are ahead of it');
}

/** Stores the result of a run. @returns what to do with its message */
async function settle(
  job: Job,
  ending: Ending & LeftByRun & Pick<Job, 'limited'>,
  received: ReceivedJobMessage,
  options: RunJobOptions,
): Promise<MessageFate> {
  const { jobs, queue, clock, report } = options;
  switch (ending.ended) {
    case 'succeeded':
      await jobs.succeed(job, ending);
      report({ ...ending, news: 'succeeded', job });
      return 'done';
    case 'parked': {
      await letGo(job, 'parked', options);
      const { reason, kind, outcomeUnknown } = ending;
      await jobs.park(job, { reason, kind, outcomeUnknown });
      report({ news: 'parked', job, reason, kind });
      return 'done';
    }
    case 'in line':
      await jobs.standInLine(job, ending);
      report({ ...ending, news: 'in line', job });
      return 'done';
    case 'not yet': {
      const message = messageOf(job, ending, received, clock());
      const waiting = await jobs.wait(job, { ...ending, message });
      report({ ...ending, news: 'waiting', job });
      if (message === 'is sent again') await queue.send(waiting);
      if (await ending.isOver?.()) await goOnAtOnce(job.id, options);
      return message === 'sleeps' ? sleepOrLeave(ending.dueAt - clock()) : 'done';
    }
  }
}

async function goOnAtOnce(jobId: string, { jobs, queue }: RunJobOptions): Promise<void> {
  const job = await jobs.get(jobId);
  if (job?.status === 'waiting') await requeueJob(job, { jobs, queue });
}

/**
 * What happens to the message of a waiting job: {@link Wait}. A person's command must not wait for another one of theirs
 * that is being retried. Commands that wait for the budget keep their order, and one worker at a time is enough for them.
 */
function messageOf(
  { lane }: Job,
  { dueAt, releasesQueueGroup, waitsFor }: Ending & { ended: 'not yet' },
  { receives, sentAt }: ReceivedJobMessage,
  now: number,
): Wait['message'] {
  if (releasesQueueGroup || dueAt - now > LONGEST_SLEEP_MS) return 'leaves';
  // No message sleeps longer in all: it holds up its group, and an old message means that no worker runs
  // (infra/job-queue.ts).
  if (receives >= MOST_RECEIVES || dueAt - sentAt > LONGEST_SLEEP_MS) return 'is sent again';
  return isOfPeople(lane) && waitsFor !== 'budget' ? 'is sent again' : 'sleeps';
}

/** Reports the run's calls to the budget, and advances the waiting line. */
async function endCalls(
  job: Job,
  { ended }: Ending,
  { calls, tools }: CallsOfRun,
  options: RunJobOptions,
): Promise<void> {
  const { budget, connection, lines, report } = options;
  const called = connection(job.connection);
  try {
    await budget.flush(job.connection);
    await tools?.flush();
    if (!called || !calls) return;
    const { slotAt } = job;
    // A job that stands in line again met an outage, and so would the next one. The two would pass the slot to each other.
    const hadNothingToSend = ended !== 'in line' && !calls.slots.hasAsked();
    if (slotAt !== undefined && hadNothingToSend) await lines.passOn({ ...job, slotAt }, called.limits);
    if (calls.slots.lineIsDue()) await lines.moveOn(called);
  } catch (error) {
    // The next write and the sweep do this too.
    report({ news: 'line stands still', job, error });
  }
}

type Ending =
  | { ended: 'succeeded'; outcome: string; notDone: boolean }
  | { ended: 'parked'; reason: string; kind: ParkKind; outcomeUnknown: boolean }
  | ({ ended: 'in line'; expectedAt: number | undefined; operation: string | undefined } & Pause)
  | ({
      ended: 'not yet';
      dueAt: number;
      releasesQueueGroup?: boolean;
      awaitedLink?: LinkAwaited['awaitedLink'];
      /** Whether what it waits for has happened while it was not seen to wait. */
      isOver?: () => Promise<boolean>;
    } & Pause);

interface Pause {
  waitsFor: WaitsFor;
  why: string;
  attempts: number;
}

/** What the next run of a job needs to know of this one. */
interface LeftByRun {
  unfinished: readonly UnfinishedStep[];
  hasGotOn: boolean;
}

/** What a run made its calls with; nothing where its connection is gone. */
interface CallsOfRun {
  calls?: PartnerCalls;
  tools?: ToolStepsOfRun;
}

async function runAutomation(
  job: Job,
  deadline: number,
  options: RunJobOptions,
): Promise<{ ending: Ending; left: LeftByRun } & CallsOfRun> {
  const { table, replacedTable, budget, breakers, assistants, replies, clock, sleep, report } = options;
  const journal = await openJournal(table, job.id, clock, options.jobs.lease(job));
  const parked: Parking = (reason, kind) => {
    const outcomeUnknown = journal.openSteps().length > 0;
    return { ended: 'parked', reason, kind: outcomeUnknown ? 'outcome unknown' : kind, outcomeUnknown };
  };
  const tellOfWait = createTellOfWait(job, report);
  let hasGotOn = false;
  const about = {
    journal,
    clock,
    report(news: StepNews | SendNews | CallNews) {
      if (news.news === 'step' && news.entry.status === 'done') {
        hasGotOn = true;
        tellOfWait();
      }
      report({ ...news, job });
    },
  };
  const once = createOnce({
    ...about,
    unfinished: job.unfinished ?? [],
    isAfterPerson: ['operator', 'person'].includes(job.waits?.newest.at(-1)?.for ?? ''),
  });
  async function ensureOfIntake(): Promise<void> {
    if (!(await options.signatures.isSigned(job))) throw new NeedsOperator(UNSIGNED);
  }
  const privacy = createPrivacy(job.id, assistants.vault, ensureOfIntake);
  const decisions = createPrivacy(job.id, assistants.vault);
  const replySteps = createReplySteps({ journal, clock, deadline, once, privacy: decisions });
  const failed = (error: unknown) => report({ news: 'untold', job, error });
  const linkWaits = createLinkWaits(table, clock);
  const person = createTellPerson({ job, journal, steps: replySteps, replies, linkWaits, clock, failed });
  const ended = (ending: Ending, made: CallsOfRun = {}) => ({
    ending,
    left: { unfinished: once.unfinished(), hasGotOn },
    ...made,
  });
  if (job.discarded) {
    const ending = await discard(job, job.discarded.reason, person, parked, options);
    if (ending.ended === 'succeeded') await journal.expire();
    return ended(ending);
  }
  const connection = options.connection(job.connection);
  if (!connection) {
    await person.parked('needs an operator');
    return ended(parked(`relay.config.ts has no connection '${job.connection}'`, 'needs an operator'));
  }

  const cameBack = job.dueAt !== undefined || job.generation > 1;
  const strangerTurn =
    job.stranger === undefined
      ? undefined
      : createStrangerTurn({ ...about, connection, share: options.strangers, login: job.stranger });
  const began = { replacedTable, happenedAt: happenedAt(job) };
  const { id: caller, lane, limited } = job;
  const run = { connection, lane, caller, limited, cameBack, strangerTurn, budget, breakers, clock, sleep, deadline };
  const calls = createPartnerCalls({ ...run, report: about.report });
  const creating = createCreations({ calls, table, connection, lane, journal, ...began, clock });
  const tools = createToolSteps({
    ...run,
    ...began,
    assistants,
    journal,
    once,
    privacy,
    awaitedLink: job.awaitedLink,
    bug: (error) => report({ news: 'bug', job, error }),
    isPublic: job.replyTo?.in === 'github',
    ensureOfIntake,
  });
  const steps = createSteps({ connection, calls, creating, journal, once, replies: replySteps, tools });
  const end = async (): Promise<Ending> => {
    let isDone = false;
    try {
      if (job.attempts >= MAX_ATTEMPTS)
        throw new NeedsOperator(`the worker crashed or failed ${job.attempts} times on this job`);
      const sends = sentTooOften(job, clock());
      if (sends !== undefined)
        throw new NeedsOperator(
          `the job was sent again ${sends} times and did not get on, more often than its waits explain`,
        );
      const automation = options.automation(job.automation);
      if (!automation) throw new NeedsOperator(`this version has no automation '${job.automation}'`);
      // Checked before the job claims anything that others would have to wait for.
      if (journal.openSteps().length === 0) await strangerTurn?.ensureLeft();
      const before = journal.entry(NOT_DONE);
      const notDoneBefore = () =>
        once.run(NOT_DONE, job.automation, async (): Promise<KeptWords> => '', before?.sealed && privacy);
      const said = before ? notDone(await notDoneBefore()) : await carryOut(automation, job, steps);
      // An object may have been created anyway.
      if (journal.undecidedSteps().length > 0) throw new NeedsOperator(said.text);
      if (said.of === 'not done') {
        // A person who read the message may have asked again in another way, so a later worker must not run the job
        // after all.
        const { text, blocks } = said;
        const kept: KeptWords = blocks ? { text, blocks } : text;
        await once.run(NOT_DONE, job.automation, async () => kept, privacy.wasUsed() ? privacy : undefined);
      }
      await letGo(job, 'succeeded', options);
      isDone = true;
      await person.outcome(said);
      await journal.expire();
      const outcome = privacy.wasUsed() ? recordOf(said) : said.text;
      return { ended: 'succeeded', outcome, notDone: said.of === 'not done' };
    } catch (error) {
      const ending = endingOf(job, error, parked, options);
      // Only the report of the outcome was left, and it failed.
      if (isDone) return ending;
      if (ending.ended === 'parked') await person.parked(ending.kind);
      if (error instanceof LinkAwaited) {
        await linkWaits.note(error.of, job.id);
        await person.linkAwaited(error);
      } else if (ending.ended === 'not yet') await person.waiting(ending.dueAt, ending.waitsFor);
      // Nobody knows when an outage ends. A job in line runs again only then, so this is the time to tell.
      const isForeseen = ending.ended === 'in line' && ending.waitsFor === 'budget';
      if (ending.ended === 'in line') await person.waiting(isForeseen ? ending.expectedAt : undefined, ending.waitsFor);
      return ending;
    }
  };
  return ended(await end(), { calls, tools });
}

/** What the records say of a job that acted as the person who asked for it. */
function recordOf(said: Told): string {
  if (said.of === 'not done') return NOT_DONE_AS_PERSON;
  return said.id === undefined ? DONE_AS_PERSON : `${DONE_AS_PERSON}: ${said.id}`;
}

const UNSIGNED =
  'the job is not as intake made it, so it must not act through a linked account; discard it, and look who can write to ' +
  'the table. If it is older than 30 days, or the intake secret was changed since, ask the person to ask again';

/** The waits that people ask about. The others are short, and a backlog has thousands of them. */
const TOLD_WAITS: readonly WaitsFor[] = ['outage', 'key', 'operator', 'person'];

/** Says, once the job gets on, what it had to wait for. A run that finds the outage unchanged has not got on. */
function createTellOfWait(job: Job, report: RunJobOptions['report']): () => void {
  let wait = job.waits?.newest.at(-1);
  return () => {
    if (wait && TOLD_WAITS.includes(wait.for)) report({ news: 'continues', job, wait });
    wait = undefined;
  };
}

/** Ends a job that an operator has discarded. */
async function discard(
  job: Job,
  reason: string,
  person: TellPerson,
  parked: Parking,
  options: RunJobOptions,
): Promise<Ending> {
  const said = notDone(`discarded: ${reason}`);
  try {
    await letGo(job, 'parked', options);
    await person.outcome(said);
  } catch (error) {
    const ending = endingOf(job, error, parked, options);
    if (ending.ended !== 'parked') return ending;
    // It was parked once already, and the operator has decided. A claim that is left behind is settled by the next job.
    options.report({ news: 'untold', job, error: ending.reason });
  }
  return { ended: 'succeeded', outcome: said.text, notDone: true };
}

async function letGo(job: Job, ending: 'succeeded' | 'parked', { automation, jobs }: RunJobOptions): Promise<void> {
  await automation(job.automation)?.letGo?.(job, ending, holding(job, { jobs }));
}

const holding =
  (job: Job, { jobs }: Pick<RunJobOptions, 'jobs'>) =>
  async () =>
    (await jobs.lease(job)?.isHeld()) ?? false;

type Told = ReplyContent & { of: 'done' | 'not done' };

/** What the step that stores why a job is not done keeps for the person. */
type KeptWords = string | Pick<Told, 'text' | 'blocks'>;

const notDone = (kept: KeptWords): Told => ({ of: 'not done', ...(typeof kept === 'string' ? { text: kept } : kept) });

async function carryOut(automation: Automation, job: Job, steps: Steps): Promise<Told> {
  try {
    const outcome = await automation.run(job, steps);
    return { of: 'done', ...(typeof outcome === 'string' ? { text: outcome } : outcome) };
  } catch (error) {
    if (error instanceof NotDone)
      return notDone({ text: error.message, ...(error.blocks && { blocks: error.blocks }) });
    throw error;
  }
}

type Parking = (reason: string, kind: ParkKind) => Ending;

/** Decides what an interruption means for the job. */
function endingOf(job: Job, error: unknown, parked: Parking, { clock, random, report }: RunJobOptions): Ending {
  if (error instanceof LeaseLost) throw error;
  if (error instanceof RetryAt) {
    const { dueAt, message: why, releasesQueueGroup, waitsFor } = error;
    const link = error instanceof LinkAwaited && { awaitedLink: error.awaitedLink, isOver: error.isOver };
    return { ended: 'not yet', dueAt, why, waitsFor, attempts: job.attempts, releasesQueueGroup, ...link };
  }
  if (error instanceof InLine) {
    const { expectedAt, message: why, waitsFor, operation } = error;
    return { ended: 'in line', expectedAt, operation, why, waitsFor, attempts: job.attempts };
  }
  if (error instanceof NeedsOperator || error instanceof UnreadableItem)
    return parked(error.message, error instanceof Refused ? 'refused' : 'needs an operator');
  const foreseen = error instanceof StepFailed || error instanceof SecretError || error instanceof BaseUrlError;
  if (!foreseen) report({ news: 'bug', job, error });
  const why = foreseen ? error.message : `unexpected: ${String(error)}`;
  const attempts = job.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return parked(`${why} (${attempts} attempts)`, 'failed');
  return { ended: 'not yet', dueAt: clock() + retryPause(attempts, random), why, waitsFor: 'retry', attempts };
}

/** The delay quadruples with each attempt, up to ten minutes. Half of it is jitter. */
function retryPause(attempts: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 4 ** (attempts - 1), LONGEST_SLEEP_MS);
  return longest / 2 + (random() * longest) / 2;
}

function sleepOrLeave(ms: number): MessageFate {
  return ms > LONGEST_SLEEP_MS ? 'done' : { sleepMs: Math.max(0, ms) };
}
