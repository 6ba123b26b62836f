import { randomUUID } from 'node:crypto';
import type { Budget } from '../budget/budget.ts';
import { BudgetUnavailable } from '../budget/budget-store.ts';
import { isOfPeople } from '../budget/lanes.ts';
import type { StrangerShare } from '../budget/stranger-share.ts';
import type { Breakers } from '../connection/breakers.ts';
import type { Connection } from '../connection/connection.ts';
import type { Assistants } from '../grants/assistants.ts';
import { BaseUrlError } from '../partner/base-url.ts';
import { SecretError } from '../secrets/secrets.ts';
import type { Table } from '../table/table.ts';
import type { Automation } from './automation.ts';
import { InLine, NeedsOperator, NotDone, Refused, RetryAt, StepFailed } from './interruption.ts';
import type { Job } from './job.ts';
import { type JobStore, LeaseLost, type Wait } from './job-store.ts';
import { openJournal } from './journal.ts';
import { LinkAwaited } from './link-awaited.ts';
import { createOnce, type StepNews } from './once.ts';
import { createPartnerCalls, type PartnerCalls } from './partner-calls.ts';
import { type JobMessage, type JobQueue, LONGEST_SLEEP_MS } from './queue.ts';
import type { CallNews } from './sending.ts';
import { createSteps, type Steps } from './steps.ts';
import { createStrangerTurn } from './stranger-turn.ts';
import { createTellPerson, type ParkKind, type Replies, type ReplyContent } from './tell-person.ts';
import { createToolSteps, type ToolStepsOfRun } from './tool-steps.ts';
import type { WaitingLines } from './waiting-line.ts';

/** Failed steps and crashes until a job is left to a person; with the pauses below, about half an hour. */
export const MAX_ATTEMPTS = 8;
const FIRST_RETRY_MS = 2_000;
/** The step that keeps why a job is not done. */
const NOT_DONE = 'not done';

/** What happened to a job, for logs and metrics. Never a payload. */
export type JobNews =
  | ({ job: Job } & (StepNews | CallNews))
  | { news: 'succeeded'; job: Job; outcome: string }
  | { news: 'waiting'; job: Job; dueAt: number; why: string }
  | { news: 'in line'; job: Job; expectedAt: number | undefined; why: string }
  | { news: 'parked'; job: Job; reason: string }
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
  strangers: StrangerShare;
  connection: (name: string) => Connection | undefined;
  assistants: Assistants;
  automation: (name: string) => Automation | undefined;
  replies: Replies;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Between 0 and 1, for the jitter of retries. */
  random: () => number;
  report: (news: JobNews) => void;
}

/** Whether the message is done with, or for how long it sleeps. */
export type MessageFate = { sleepMs: number } | 'done';

/** A message that was received so often is replaced, so that a wait never brings it into the dead-letter queue. */
const MOST_RECEIVES = 20;

/**
 * Works on the job of one message until it has ended, or can go on only later.
 *
 * @param receives how often the message was received, with this time
 * @param deadline when the caller will be stopped, in epoch milliseconds; the lease ends then too
 */
export async function runJob(
  message: JobMessage,
  receives: number,
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
    const { ending, ...made } = await runAutomation(claimed, deadline, options);
    const fate = await settle(claimed, ending, receives, options);
    await endCalls(claimed, made, options);
    return fate;
  } catch (error) {
    // Whoever took over works on it now, and has a message of its own or the sweep's.
    if (error instanceof LeaseLost) return 'done';
    throw error;
  }
}

/**
 * Sends a new background job to the end of the waiting line without starting it: thousands come at once, and those that
 * are called from the line must not wait behind them. A person's job runs first, so that they are told what it waits for.
 */
async function stoodInLine(message: JobMessage, { jobs, budget, connection }: RunJobOptions): Promise<boolean> {
  const { jobId: id, generation, of } = message;
  const limits = of && connection(of.connection)?.limits;
  if (generation > 1 || of?.lane !== 'background' || !limits) return false;
  try {
    if (!(await budget.mustStand(of.connection, limits, of.lane))) return false;
  } catch (error) {
    // The job waits for the budget itself, in the usual way.
    if (error instanceof BudgetUnavailable) return false;
    throw error;
  }
  return jobs.standInLineAtOnce({ id, ...of }, 'other jobs are ahead of it');
}

/** Writes what has become of a job. @returns what becomes of its message */
async function settle(job: Job, ending: Ending, receives: number, options: RunJobOptions): Promise<MessageFate> {
  const { jobs, queue, clock, report } = options;
  switch (ending.ended) {
    case 'succeeded':
      await jobs.succeed(job, ending);
      report({ news: 'succeeded', job, outcome: ending.notDone ? `not done: ${ending.outcome}` : ending.outcome });
      return 'done';
    case 'parked':
      await letGo(job, 'parked', options);
      await jobs.park(job, { reason: ending.reason, outcomeUnknown: ending.outcomeUnknown });
      report({ news: 'parked', job, reason: ending.reason });
      return 'done';
    case 'in line':
      await jobs.standInLine(job, ending);
      report({ ...ending, news: 'in line', job });
      return 'done';
    case 'not yet': {
      const message = messageOf(job, ending, receives, clock());
      const waiting = await jobs.wait(job, { ...ending, message });
      report({ ...ending, news: 'waiting', job });
      if (message === 'is sent again') await queue.send(waiting);
      return message === 'sleeps' ? sleepOrLeave(ending.dueAt - clock()) : 'done';
    }
  }
}

/** What becomes of the message of a job that waits: {@link Wait}. */
function messageOf(
  job: Job,
  { dueAt, releasesQueueGroup }: Ending & { ended: 'not yet' },
  receives: number,
  now: number,
): Wait['message'] {
  if (releasesQueueGroup || dueAt - now > LONGEST_SLEEP_MS) return 'leaves';
  // What a person asked for must not wait for another command of theirs that is tried again.
  return isOfPeople(job.lane) || receives >= MOST_RECEIVES ? 'is sent again' : 'sleeps';
}

/** Lets the budget know how the calls of the run ended, and moves the waiting line on. */
async function endCalls(job: Job, { calls, tools }: CallsOfRun, options: RunJobOptions): Promise<void> {
  const { budget, connection, lines, report } = options;
  const called = connection(job.connection);
  try {
    await budget.flush(job.connection);
    await tools?.flush();
    if (!called || !calls) return;
    const { slotAt } = job;
    if (slotAt !== undefined && !calls.hasAsked()) await lines.passOn({ ...job, slotAt }, called.limits);
    if (calls.lineIsDue()) await lines.moveOn(called);
  } catch (error) {
    // The next write does it too, and the sweep.
    report({ news: 'line stands still', job, error });
  }
}

type Ending =
  | { ended: 'succeeded'; outcome: string; notDone: boolean }
  | { ended: 'parked'; reason: string; kind: ParkKind; outcomeUnknown: boolean }
  | { ended: 'in line'; expectedAt: number | undefined; why: string; attempts: number }
  | { ended: 'not yet'; dueAt: number; why: string; attempts: number; releasesQueueGroup?: boolean };

/** What a run made its calls with; nothing where its connection is gone. */
interface CallsOfRun {
  calls?: PartnerCalls;
  tools?: ToolStepsOfRun;
}

async function runAutomation(
  job: Job,
  deadline: number,
  options: RunJobOptions,
): Promise<{ ending: Ending } & CallsOfRun> {
  const { table, budget, breakers, assistants, replies, clock, sleep, report } = options;
  const journal = await openJournal(table, job.id, clock, options.jobs.lease(job));
  const parked: Parking = (reason, kind) => {
    const outcomeUnknown = journal.openSteps().length > 0;
    return { ended: 'parked', reason, kind: outcomeUnknown ? 'outcome unknown' : kind, outcomeUnknown };
  };
  const connection = options.connection(job.connection);
  if (!connection) {
    return {
      ending: parked(`relay.config.ts has no connection '${job.connection}'`, 'needs an operator'),
    };
  }

  const about = { connection, journal, clock, report: (news: StepNews | CallNews) => report({ ...news, job }) };
  const cameBack = job.dueAt !== undefined || job.generation > 1;
  const strangerTurn =
    job.stranger === undefined
      ? undefined
      : createStrangerTurn({ ...about, share: options.strangers, login: job.stranger });
  const calls = createPartnerCalls({
    ...{ ...about, strangerTurn },
    ...{ table, lane: job.lane, caller: job.id, cameBack, budget, breakers, sleep, deadline },
  });
  const once = createOnce(about);
  const tools = createToolSteps({
    ...{ assistants, connection: connection.name, limits: connection.mcpLimits, lane: job.lane, budget },
    ...{ journal, once, isHeld: holding(job, options), clock, sleep, deadline },
    isPublic: job.replyTo?.in === 'github',
  });
  const steps = createSteps({ connection, calls, journal, clock, deadline, once, tools });
  const failed = (error: unknown) => report({ news: 'untold', job, error });
  const person = createTellPerson({ job, journal, steps, replies, clock, failed });
  const end = async (): Promise<Ending> => {
    let isDone = false;
    try {
      if (job.attempts >= MAX_ATTEMPTS)
        throw new NeedsOperator(`the worker crashed or failed ${job.attempts} times on this job`);
      const automation = options.automation(job.automation);
      if (!automation) throw new NeedsOperator(`this version has no automation '${job.automation}'`);
      // Before it claims anything that others would have to wait for.
      if (journal.openSteps().length === 0) await strangerTurn?.ensureLeft();
      const known = journal.entry(NOT_DONE);
      const said = known ? notDone(String(known.result)) : await carryOut(automation, job, steps);
      // Something may have been created all the same.
      if (journal.undecidedSteps().length > 0) throw new NeedsOperator(said.text);
      if (said.of === 'not done') {
        // Somebody who read it may have asked in another way, so that whoever takes over must not do it after all.
        await steps.read(NOT_DONE, job.automation, async () => said.text);
      }
      await letGo(job, 'succeeded', options);
      isDone = true;
      await person.outcome(said);
      await journal.expire();
      return { ended: 'succeeded', outcome: said.text, notDone: said.of === 'not done' };
    } catch (error) {
      const ending = endingOf(job, error, parked, options);
      // Only the outcome is left to be told then, and that is what could not be.
      if (isDone) return ending;
      if (ending.ended === 'parked') await person.parked(ending.reason, ending.kind);
      if (error instanceof LinkAwaited) await person.linkAwaited(error);
      else if (ending.ended === 'not yet') await person.waiting(ending.dueAt, ending.why);
      if (ending.ended === 'in line') await person.waiting(ending.expectedAt, ending.why);
      return ending;
    }
  };
  return { ending: await end(), calls, tools };
}

async function letGo(job: Job, ending: 'succeeded' | 'parked', { automation, jobs }: RunJobOptions): Promise<void> {
  await automation(job.automation)?.letGo?.(job, ending, holding(job, { jobs }));
}

const holding =
  (job: Job, { jobs }: Pick<RunJobOptions, 'jobs'>) =>
  async () =>
    (await jobs.lease(job)?.isHeld()) ?? false;

type Told = ReplyContent & { of: 'done' | 'not done' };

const notDone = (text: string): Told => ({ of: 'not done', text });

async function carryOut(automation: Automation, job: Job, steps: Steps): Promise<Told> {
  try {
    const outcome = await automation.run(job, steps);
    return { of: 'done', ...(typeof outcome === 'string' ? { text: outcome } : outcome) };
  } catch (error) {
    if (error instanceof NotDone) return notDone(error.message);
    throw error;
  }
}

type Parking = (reason: string, kind: ParkKind) => Ending;

/** What an interrupted run means for its job. */
function endingOf(job: Job, error: unknown, parked: Parking, { clock, random, report }: RunJobOptions): Ending {
  if (error instanceof LeaseLost) throw error;
  if (error instanceof RetryAt) {
    const { dueAt, message: why, releasesQueueGroup } = error;
    return { ended: 'not yet', dueAt, why, attempts: job.attempts, releasesQueueGroup };
  }
  if (error instanceof InLine) {
    return { ended: 'in line', expectedAt: error.expectedAt, why: error.message, attempts: job.attempts };
  }
  if (error instanceof NeedsOperator)
    return parked(error.message, error instanceof Refused ? 'refused' : 'needs an operator');
  const foreseen = error instanceof StepFailed || error instanceof SecretError || error instanceof BaseUrlError;
  if (!foreseen) report({ news: 'bug', job, error });
  const why = foreseen ? error.message : `unexpected: ${String(error)}`;
  const attempts = job.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return parked(`${why} (${attempts} attempts)`, 'failed');
  return { ended: 'not yet', dueAt: clock() + retryPause(attempts, random), why, attempts };
}

/** Four times as long with each attempt, up to ten minutes; half of it is jitter. */
function retryPause(attempts: number, random: () => number): number {
  const longest = Math.min(FIRST_RETRY_MS * 4 ** (attempts - 1), LONGEST_SLEEP_MS);
  return longest / 2 + (random() * longest) / 2;
}

function sleepOrLeave(ms: number): MessageFate {
  return ms > LONGEST_SLEEP_MS ? 'done' : { sleepMs: Math.max(0, ms) };
}
