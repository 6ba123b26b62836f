import { randomUUID } from 'node:crypto';
import type { Automation } from '../automations/automation.ts';
import type { Budget } from '../budget/budget.ts';
import type { Connection } from '../connection/connection.ts';
import type { Outages } from '../connection/outages.ts';
import { BaseUrlError } from '../partner/base-url.ts';
import { SecretError } from '../secrets/secrets.ts';
import type { Table } from '../table/table.ts';
import { Later, NotDone, Park, StepFailed } from './interruption.ts';
import type { Job } from './job.ts';
import { type JobStore, LeaseLost } from './job-store.ts';
import { openJournal } from './journal.ts';
import { type CallNews, createPartnerCalls } from './partner-calls.ts';
import { type JobMessage, LONGEST_SLEEP_MS } from './queue.ts';
import { createSteps, type StepNews, type Steps } from './steps.ts';
import { createTellPerson, type Replies, type Said } from './tell-person.ts';

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
  | { news: 'parked'; job: Job; reason: string }
  | { news: 'bug'; job: Job; error: unknown }
  | { news: 'untold'; job: Job; error: unknown };

export interface RunJobOptions {
  table: Table;
  jobs: JobStore;
  budget: Budget;
  outages: Outages;
  connection: (name: string) => Connection | undefined;
  automation: (name: string) => Automation | undefined;
  replies: Replies;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Between 0 and 1, for the jitter of retries. */
  random: () => number;
  tell: (news: JobNews) => void;
}

/** Whether the message is done with, or for how long it sleeps. */
export type MessageFate = { sleepMs: number } | 'done';

/**
 * Works on the job of one message until it has ended, or can go on only later.
 *
 * @param deadline when the caller will be stopped, in epoch milliseconds; the lease ends then too
 */
export async function runJob(message: JobMessage, deadline: number, options: RunJobOptions): Promise<MessageFate> {
  const { jobs, clock, tell } = options;
  const claimed = await jobs.claim(message.jobId, message.generation, randomUUID(), deadline);
  if ('unclaimed' in claimed) {
    if (!('until' in claimed)) return 'done';
    return sleepOrLeave(claimed.until - clock());
  }

  const job = claimed;
  try {
    const fate = await runAutomation(job, deadline, options);
    if (fate.ended === 'succeeded') {
      await jobs.succeed(job, fate);
      tell({ news: 'succeeded', job, outcome: fate.notDone ? `not done: ${fate.outcome}` : fate.outcome });
      return 'done';
    }
    if (fate.ended === 'parked') {
      await letGo(job, 'parked', options);
      await jobs.park(job, { reason: fate.reason, outcomeUnknown: fate.outcomeUnknown });
      tell({ news: 'parked', job, reason: fate.reason });
      return 'done';
    }
    const { dueAt, why, attempts, makesRoom = false } = fate;
    const asleep = !makesRoom && dueAt - clock() <= LONGEST_SLEEP_MS;
    await jobs.wait(job, { dueAt, why, attempts, asleep });
    tell({ news: 'waiting', job, dueAt, why });
    return asleep ? sleepOrLeave(dueAt - clock()) : 'done';
  } catch (error) {
    // Whoever took over works on it now, and has a message of its own or the sweep's.
    if (error instanceof LeaseLost) return 'done';
    throw error;
  }
}

type Ending =
  | { ended: 'succeeded'; outcome: string; notDone: boolean }
  | { ended: 'parked'; reason: string; outcomeUnknown: boolean }
  | { ended: 'not yet'; dueAt: number; why: string; attempts: number; makesRoom?: boolean };

async function runAutomation(job: Job, deadline: number, options: RunJobOptions): Promise<Ending> {
  const { table, budget, outages, replies, clock, sleep, tell } = options;
  const journal = await openJournal(table, job.id, clock, options.jobs.lease(job));
  const parked = (reason: string): Ending => ({
    ended: 'parked',
    reason,
    outcomeUnknown: journal.openSteps().length > 0,
  });
  const connection = options.connection(job.connection);
  if (!connection) return parked(`relay.config.ts has no connection '${job.connection}'`);

  const about = { connection, journal, clock, tell: (news: StepNews | CallNews) => tell({ ...news, job }) };
  const cameBack = job.dueAt !== undefined || job.generation > 1;
  const calls = createPartnerCalls({ ...about, lane: job.lane, cameBack, budget, outages, sleep, deadline });
  const steps = createSteps({ ...about, calls, deadline });
  const failed = (error: unknown) => tell({ news: 'untold', job, error });
  const person = createTellPerson({ job, journal, steps, replies, clock, failed });
  let isDone = false;
  try {
    if (job.attempts >= MAX_ATTEMPTS) throw new Park(`the worker crashed or failed ${job.attempts} times on this job`);
    const automation = options.automation(job.automation);
    if (!automation) throw new Park(`this version has no automation '${job.automation}'`);
    const known = journal.entry(NOT_DONE);
    const said = known ? notDone(String(known.result)) : await carryOut(automation, job, steps);
    // Something may have been created all the same.
    if (journal.undecidedSteps().length > 0) throw new Park(said.text);
    if (said.of === 'not done') {
      // Somebody who read it may have asked in another way, so that whoever takes over must not do it after all.
      await steps.look(NOT_DONE, job.automation, async () => said.text);
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
    if (ending.ended === 'parked') await person.parked(ending.reason);
    if (ending.ended === 'not yet') await person.waiting(ending.dueAt, ending.why);
    return ending;
  }
}

async function letGo(job: Job, ending: 'succeeded' | 'parked', { automation, jobs }: RunJobOptions): Promise<void> {
  const isHeld = async () => (await jobs.lease(job)?.isHeld()) ?? false;
  await automation(job.automation)?.letGo?.(job, ending, isHeld);
}

type Told = Said & { of: 'done' | 'not done' };

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

/** What an interrupted run means for its job. */
function endingOf(
  job: Job,
  error: unknown,
  parked: (reason: string) => Ending,
  { clock, random, tell }: RunJobOptions,
): Ending {
  if (error instanceof LeaseLost) throw error;
  if (error instanceof Later) {
    const { dueAt, message: why, makesRoom } = error;
    return { ended: 'not yet', dueAt, why, attempts: job.attempts, makesRoom };
  }
  if (error instanceof Park) return parked(error.message);
  const foreseen = error instanceof StepFailed || error instanceof SecretError || error instanceof BaseUrlError;
  if (!foreseen) tell({ news: 'bug', job, error });
  const why = foreseen ? error.message : `unexpected: ${String(error)}`;
  const attempts = job.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return parked(`${why} (${attempts} attempts)`);
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
