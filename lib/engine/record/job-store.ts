import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../dates.ts';
import { expiry } from '../../state/table/expiry.ts';
import { ofThisForm } from '../../state/table/form.ts';
import { keys } from '../../state/table/keys.ts';
import { type Expression, type Item, setFields, type Table } from '../../state/table/table.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import { beginWait, endWait, type OperatorDecision, withDecision } from './history.ts';
import type { InLine, RetryAt } from './interruption.ts';
import {
  hasEnded,
  type Job,
  type JobDraft,
  type Parked,
  type Question,
  questionOf,
  queuedSince,
  type UnfinishedStep,
} from './job.ts';
import { isGone, jobOfItem, type StandingJob } from './job-item.ts';
import { createJobLists, lineOf } from './job-lists.ts';
import { createProcessRuns, type ProcessRuns } from './process-runs.ts';
import { createUnreadableJobs, type Warn } from './unreadable-jobs.ts';

/** A job queued for this long without a worker may have lost its sender or message, so the sweep sends it again. */
export const UNCLAIMED_MS = MINUTE_MS;
/** The longest time until the sweep checks a job without a worker again. */
const LONGEST_UNCLAIMED_MS = DAY_MS;
/** No worker may run for longer (AWS Lambda quotas: 15 minutes), so a later end of a lease is ignored. */
const LONGEST_LEASE_MS = 16 * MINUTE_MS;
/** How late a sleeping message may wake before the sweep treats the job as lost. */
export const WAKE_GRACE_MS = 2 * MINUTE_MS;

/** How often the sweep checks that the connection of a job in line still exists. */
const LINE_GRACE_MS = HOUR_MS;

/** The fields that the end of a run removes, unless it sets them. */
const RUN_FIELDS = ['lease', 'crashes', 'dueAt', 'line', 'slotAt', 'expectedAt', 'unfinished', 'openUntil', 'limited'];

/** How many crashes in a row are kept. With this many, ending.ts (lib/engine/run) no longer settles open creations. */
const CRASHES_KEPT = 8;

/** The fields that a new generation begins without. */
const REQUEUED_FIELDS = ['lease', 'dueAt', 'parked', 'line', 'slotAt', 'expectedAt', 'expiresAt'];

export type Unclaimed =
  | { unclaimed: 'gone' | 'stale' | 'ended' }
  | { unclaimed: 'leased' | 'not due' | 'beside others'; until: number; job: Job };

/** The worker no longer holds the job: its lease expired, and another worker took over. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(jobId: string) {
    super(`the lease of ${jobId} expired and another worker holds the job`);
  }
}

/** One worker's right to work on a job. */
export interface Lease {
  owner: string;
  /** True if no other worker has taken over the job. */
  isHeld(): Promise<boolean>;
}

/** The state that a run leaves for the next run of its job. */
export interface ForNextRun {
  /** The steps that the last run began and did not finish. */
  unfinished?: readonly UnfinishedStep[];
  /** True if the last run completed a step. */
  hasGotOn?: boolean;
  /** The crashes that still count. */
  crashes?: Job['crashes'];
  limited?: Job['limited'];
  openUntil?: Job['openUntil'];
  title?: Job['title'];
}

type LeftByRun = ForNextRun & Pick<Job, 'attempts'>;

/**
 * What happens to the message of a waiting job:
 * - `sleeps`: it sleeps in the queue together with its group
 * - `is sent again`: a new message sleeps separately
 * - `leaves`: it leaves the queue, and the sweep sends a new message when the job is due
 */
export type WaitingMessage = 'sleeps' | 'is sent again' | 'leaves';

/** Job records. Every write is conditional on the state that it assumes. */
export type JobStore = ReturnType<typeof createJobStore>;

export function createJobStore(table: Table, clock: () => number, warn: Warn = () => {}) {
  const unreadable = createUnreadableJobs(table, clock, warn);

  /**
   * Ends a run: releases the lease, writes the fields in `set`, and removes the other fields of a run.
   * @returns false if an answer has arrived to the question that the job would wait for
   */
  async function endRun(
    job: Job,
    set: Partial<Job>,
    { expiresAt, asks = false }: { expiresAt?: number; asks?: boolean } = {},
  ): Promise<boolean> {
    const owner = job.lease?.owner;
    const fields: Item = { ...set, expiresAt };
    const over = RUN_FIELDS.filter((name) => fields[name] === undefined);
    const condition = asks ? both(ownedBy(owner), UNANSWERED) : ownedBy(owner);
    if (await table.update(keys.job(job.id), setFields(fields, over), condition)) return true;
    if (asks && (await get(job.id))?.lease?.owner === owner) return false;
    throw new LeaseLost(job.id);
  }

  /** @throws {UnreadableItem} */
  async function get(jobId: string): Promise<Job | undefined> {
    const item = await table.getEvenExpired(keys.job(jobId));
    return !item || isGone(item, clock()) ? undefined : jobOfItem(item);
  }

  async function readOr<T>(jobId: string, unreadable: (error: UnreadableItem) => Promise<T>) {
    try {
      return await get(jobId);
    } catch (error) {
      if (error instanceof UnreadableItem) return unreadable(error);
      throw error;
    }
  }

  function waitingFields(
    job: Job,
    { waitsFor, message: why }: RetryAt | InLine,
    { attempts, unfinished = [], hasGotOn, crashes, limited, openUntil, title }: LeftByRun,
  ): Partial<Job> {
    const now = clock();
    return {
      status: 'waiting',
      attempts,
      waits: beginWait(job.waits, { for: waitsFor, from: now, why }),
      ...(unfinished.length > 0 && { unfinished: [...unfinished] }),
      ...(hasGotOn && { gotOn: { generation: job.generation, at: now } }),
      crashes,
      limited,
      openUntil,
      title,
    };
  }

  async function claim(
    jobId: string,
    generation: number,
    owner: string,
    until: number,
    runs: ProcessRuns,
  ): Promise<Job | Unclaimed> {
    const now = clock();
    const job = await readOr(jobId, (error) => unreadable.setAside(jobId, error));
    if (!job) return { unclaimed: 'gone' };
    if (hasEnded(job)) return { unclaimed: 'ended' };
    if (job.generation !== generation) return { unclaimed: 'stale' };
    const isLeased = job.lease && job.lease.until > now && job.lease.until <= now + LONGEST_LEASE_MS;
    if (job.lease && isLeased) return { unclaimed: 'leased', until: job.lease.until, job };
    if (job.status === 'waiting' && job.dueAt !== undefined && job.dueAt > now) {
      return { unclaimed: 'not due', until: job.dueAt, job };
    }
    const crashed = crashesOf(job);
    if (!runs.mayStart({ ...job, ...crashed }, now)) return { unclaimed: 'beside others', until: now + SECOND_MS, job };
    await endSolitude(runs);
    const lease = { owner, since: now, until, ...(runs.isEmpty() && { alone: true as const }) };
    const waits = endWait(job.waits, now);
    const claimed = await table.update(
      keys.job(jobId),
      setFields({ status: 'running', ...ofThisForm, lease, ...crashed, wakeAt: until, waits }, ['dueAt', 'expiresAt']),
      asRead(job),
    );
    const taken = claimed && jobOfItem(claimed);
    // If the answer of the table was late, another worker may have taken over since.
    if (taken?.lease?.owner !== owner) return { unclaimed: 'leased', until: now + SECOND_MS, job };
    runs.begin({ ...taken, lease });
    return { ...taken, dueAt: job.dueAt };
  }

  /** Before another run starts, removes the note that the current run is alone. */
  async function endSolitude(runs: ProcessRuns): Promise<void> {
    const job = runs.alone();
    if (!job) return;
    const { alone: _, ...lease } = job.lease;
    await table.update(keys.job(job.id), setFields({ lease }), ownedBy(lease.owner));
    runs.share(lease);
  }

  /**
   * Stores a job.
   * @param standsFor what the job waits for, if it is stored directly in its waiting line, without a message
   * @returns the job, and whether this call stored it
   */
  async function store(draft: JobDraft, standsFor?: string): Promise<{ job: Job; stored: boolean }> {
    const now = clock();
    const place =
      standsFor === undefined
        ? { status: 'queued' as const, wakeAt: now + UNCLAIMED_MS }
        : {
            status: 'waiting' as const,
            wakeAt: now + LINE_GRACE_MS,
            line: lineOf(draft.connection, draft.lane),
            waits: beginWait(undefined, { for: 'budget', from: now, why: standsFor }),
          };
    const job: Job = { ...draft, ...place, createdAt: now, generation: 1, attempts: 0 };
    const unlessThereOrExpired = {
      expression: 'attribute_not_exists(#pk) OR ((#status = :succeeded OR #status = :notDone) AND #expiresAt <= :now)',
      values: { now: now / SECOND_MS, succeeded: 'succeeded', notDone: 'not-done' },
    };
    if (await table.put({ ...keys.job(job.id), ...job }, unlessThereOrExpired)) {
      return { job, stored: true };
    }
    // An unreadable record stays: `claim` sets it aside when its message comes.
    const existing = await readOr(draft.id, async () => job);
    // The record expired between the two calls.
    return existing ? { job: existing, stored: false } : store(draft, standsFor);
  }

  /**
   * Starts the next generation of a job that no worker holds: it was replayed, is due, or lost its worker in a crash.
   * Counts the crash.
   * @param decision of the operator who continues or ends the job
   * @param wasStopped true if the worker was stopped instead of crashing
   * @param answered the answer to the question that the job waits for
   * @returns the job to queue, or undefined if it changed in the meantime
   */
  async function requeue(
    job: Job,
    decision?: OperatorDecision,
    wasStopped = false,
    answered?: { set: Pick<Job, 'question'>; unless: Expression },
  ): Promise<Job | undefined> {
    const now = clock();
    const attempts = job.status === 'parked' ? 0 : job.attempts;
    const queuedAt = job.status === 'queued' ? queuedSince(job) : now;
    // Doubles the delay, so that a backlog is not sent again every minute while no worker runs.
    const wakeAt = now + Math.min(Math.max(UNCLAIMED_MS, now - queuedAt), LONGEST_UNCLAIMED_MS);
    const set: Partial<Job> = {
      status: 'queued',
      generation: job.generation + 1,
      queuedAt,
      wakeAt,
      attempts,
      ...(!wasStopped && crashesOf(job)),
      ...(decision && { gotOn: { generation: job.generation + 1, at: now } }),
      waits: job.status === 'parked' ? withParkedTime(job, now) : (endWait(job.waits, now) ?? job.waits),
      ...(decision && { decisions: withDecision(job.decisions, decision) }),
      ...answered?.set,
      ...(decision?.what === 'discarded' && { discarded: { by: decision.by, reason: decision.reason ?? '' } }),
    };
    const isRevived = job.status === 'parked' && !set.discarded;
    const over = isRevived ? [...REQUEUED_FIELDS, 'discarded'] : REQUEUED_FIELDS;
    // The run that an operator asks for needs `slotAt`, to pass its slot on or to move its line on.
    const removed = decision ? over.filter((name) => name !== 'slotAt') : over;
    const condition = answered ? both(asRead(job), answered.unless) : asRead(job);
    const requeued = await table.update(keys.job(job.id), setFields({ ...set }, removed), condition);
    return requeued && jobOfItem(requeued);
  }

  return {
    ...createJobLists(table, clock, unreadable),
    get,
    store,
    /**
     * Claims the job for one worker. Taking over from a worker whose lease expired counts as a crash of that worker.
     * @param generation of the message that brought the job
     * @param until when the lease ends
     * @param runs of the worker's process
     * @returns `gone` for a missing record, and for an unreadable one, which this call parks
     */
    claim: (
      jobId: string,
      generation: number,
      owner: string,
      until: number,
      runs = createProcessRuns(),
    ): Promise<Job | Unclaimed> => runs.inTurn(() => claim(jobId, generation, owner, until, runs)),
    lease({ id, lease }: Job): Lease | undefined {
      return lease && { owner: lease.owner, isHeld: async () => (await get(id))?.lease?.owner === lease.owner };
    },
    async finish(
      job: Job,
      ending: { ended: 'succeeded' | 'not-done'; outcome: string },
      title?: Job['title'],
    ): Promise<void> {
      const { ended: status, outcome } = ending;
      const now = clock();
      await endRun(job, { status, outcome, title, wakeAt: now }, { expiresAt: expiry(now) });
    },
    async park(job: Job, parked: Parked, attempts = job.attempts, title?: Job['title']): Promise<void> {
      const now = clock();
      await endRun(job, { status: 'parked', parked, wakeAt: now, attempts, title });
    },
    /**
     * Ends a run with a wait until a time.
     * @returns the waiting job, with a new generation if its message `is sent again`; undefined if it need not wait
     * because its question has been answered
     */
    async wait(job: Job, wait: RetryAt, message: WaitingMessage, left: LeftByRun): Promise<Job | undefined> {
      const { dueAt, expectedAt } = wait;
      const generation = job.generation + (message === 'is sent again' ? 1 : 0);
      const wakeAt = Math.min(message === 'leaves' ? dueAt : dueAt + WAKE_GRACE_MS, clock() + LONGEST_UNCLAIMED_MS);
      const fields = waitingFields(job, wait, left);
      const asks = wait.waitsFor === 'question';
      const waits = await endRun(job, { ...fields, dueAt, expectedAt, wakeAt, generation }, { asks });
      return waits ? { ...job, ...fields, dueAt, generation } : undefined;
    },
    /** Opens a question, which replaces the last one. @throws {LeaseLost} */
    async ask(job: Job, question: Question): Promise<void> {
      const asked = await table.update(keys.job(job.id), setFields({ question }), ownedBy(job.lease?.owner));
      if (!asked) throw new LeaseLost(job.id);
    },
    /**
     * Ends an open question without an answer. @returns `none`, or the answer that arrived first. @throws {LeaseLost}
     */
    async endQuestion({ id, lease }: Job, question: Question): Promise<string> {
      const ended = setFields({ question: { ...question, answer: NO_ANSWER } });
      if (await table.update(keys.job(id), ended, both(ownedBy(lease?.owner), isOpen(question)))) return NO_ANSWER;
      const now = await get(id);
      if (now?.lease?.owner !== lease?.owner || now?.question?.answer === undefined) throw new LeaseLost(id);
      return now.question.answer;
    },
    /**
     * Keeps the answer to an open question. Queues the job if it waits for the answer; a running job reads it in its
     * next run.
     * @returns the job as it is now, or undefined if it changed in the meantime
     */
    async answer(job: Job, question: Question, answer: string): Promise<Job | undefined> {
      const answered = { set: { question: { ...question, answer } }, unless: isOpen(question) };
      if (questionOf(job)) return requeue(job, undefined, false, answered);
      const condition = both(asRead(job), answered.unless);
      const kept = await table.update(keys.job(job.id), setFields(answered.set), condition);
      return kept && jobOfItem(kept);
    },
    /** Puts the job into the waiting line of its connection and lane, or of an operation there. */
    async standInLine(job: Job, wait: InLine, left: LeftByRun): Promise<void> {
      const { expectedAt } = wait;
      const line = lineOf(job.connection, job.lane, wait.operation);
      const wakeAt = clock() + LINE_GRACE_MS;
      await endRun(job, { ...waitingFields(job, wait, left), line, wakeAt, expectedAt });
    },
    /** Puts an unclaimed job into its waiting line. @returns the job, or undefined if it changed in the meantime */
    async standInLineAtOnce(
      job: Pick<Job, 'id' | 'connection' | 'lane' | 'generation'>,
      why: string,
    ): Promise<Job | undefined> {
      const changed = await table.update(
        keys.job(job.id),
        setFields({
          status: 'waiting',
          line: lineOf(job.connection, job.lane),
          wakeAt: clock() + LINE_GRACE_MS,
          waits: beginWait(undefined, { for: 'budget', from: clock(), why }),
        }),
        {
          expression: '#generation = :generation AND #status = :queued',
          values: { generation: job.generation, queued: 'queued' },
        },
      );
      return changed && (await unreadable.readJobs([changed]))[0];
    },
    /**
     * Calls a job from its waiting line for a slot. Its message may be sent immediately, and sleeps until the slot
     * opens.
     * @param slotAt when the job's slot opens
     * @param expectedAt when the job probably sends
     * @returns the job to queue, or undefined if it was called or left the line in the meantime
     */
    async callFromLine(
      job: StandingJob,
      dueAt: number,
      slotAt: number,
      expectedAt = slotAt,
    ): Promise<StandingJob | undefined> {
      const called = await table.update(
        keys.job(job.id),
        setFields({ generation: job.generation + 1, dueAt, slotAt, expectedAt, wakeAt: dueAt + WAKE_GRACE_MS }),
        {
          expression:
            '#generation = :was AND #status = :waiting AND attribute_exists(#line) AND attribute_not_exists(#slotAt)',
          values: { was: job.generation, waiting: 'waiting' },
        },
      );
      return called && (await unreadable.readJobs([called]))[0];
    },
    requeue,
    /**
     * Adds a decision that does not change the job's state.
     * @returns false if the job is gone or changed in the meantime
     */
    async noteDecision(job: Job, decision: OperatorDecision): Promise<boolean> {
      const noted = await table.update(
        keys.job(job.id),
        setFields({ decisions: withDecision(job.decisions, decision) }),
        asRead(job),
      );
      return noted !== undefined;
    },
    /** Extends a job's time in line, for the sweep. */
    async keepInLine(job: Job): Promise<void> {
      await table.update(keys.job(job.id), setFields({ wakeAt: clock() + LINE_GRACE_MS }), {
        expression: '#generation = :generation AND attribute_exists(#line)',
        values: { generation: job.generation },
      });
    },
  };
}

/** Takes the place of an answer when a question has ended without one. */
export const NO_ANSWER = 'none';

const UNANSWERED: Expression = { expression: 'attribute_not_exists(#question.#answer)' };

const isOpen = ({ step }: Question): Expression =>
  both(UNANSWERED, { expression: '#question.#step = :asked', values: { asked: step } });

const both = (one: Expression, other: Expression): Expression => ({
  expression: `${one.expression} AND ${other.expression}`,
  values: { ...one.values, ...other.values },
});

const ownedBy = (owner: string | undefined): Expression => ({
  expression: '#lease.#owner = :owner',
  values: { owner },
});

/**
 * Returns the crashes of a job. Adds the last run if it never ended and ran alone, because then nothing else can have
 * crashed the process.
 */
function crashesOf({ status, lease, crashes = [] }: Job): Pick<Job, 'crashes'> {
  if (status !== 'running' || !lease) return {};
  return { crashes: lease.alone ? [...crashes, lease.since].slice(-CRASHES_KEPT) : crashes };
}

/** True if the job has not changed since it was read. */
function asRead({ generation, status, wakeAt }: Job): Expression {
  return {
    expression: '#generation = :wasGeneration AND #status = :wasStatus AND #wakeAt = :wasWakeAt',
    values: { wasGeneration: generation, wasStatus: status, wasWakeAt: wakeAt },
  };
}

/** Adds the time in which the job was parked to its waits. */
function withParkedTime({ waits, parked, wakeAt }: Job, now: number): Job['waits'] {
  const wait = { for: 'operator', from: wakeAt, why: parked?.reason ?? '' } as const;
  return endWait(beginWait(waits, wait), now);
}
