import type { Lane } from '../../service/budget/lanes.ts';
import { expiry } from '../../state/table/expiry.ts';
import { jobsByStatus, keys, waitingLine } from '../../state/table/keys.ts';
import type { Expression, Item, Table } from '../../state/table/table.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import { beginWait, endWait, type OperatorDecision, type WaitsFor, withDecision } from './history.ts';
import { type Job, type JobDraft, type JobStatus, type Parked, queuedSince, type UnfinishedStep } from './job.ts';
import {
  idOfRecord,
  isGone,
  jobOfItem,
  readableJobs,
  type StandingJob,
  standingJobOfItem,
  unlessUnreadable,
} from './job-item.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** If no worker has a queued job by then, its sender or its message may be lost, and the sweep sends it again. */
const UNCLAIMED_MS = MINUTE;
/** A job that no worker has is looked at again by then. */
const LONGEST_UNCLAIMED_MS = 24 * 60 * MINUTE;
/** No worker may run for longer (AWS Lambda quotas: 15 minutes), so a later end of a lease is ignored. */
const LONGEST_LEASE_MS = 16 * MINUTE;
/** How late a sleeping message may wake before the sweep treats the job as lost. */
const WAKE_GRACE_MS = 2 * MINUTE;

/** How often the sweep checks that the connection of a job in line still exists. */
const LINE_GRACE_MS = 60 * MINUTE;
/**
 * No job waits longer: a Retry-After counts as a day at most, and so does the wait for a worker. A later time was written
 * by a process with a wrong clock, or by hand.
 */
const LONGEST_WAIT_MS = 25 * 60 * MINUTE;
/** The number of jobs that the sweep reads at a time. */
const DUE_PAGE = 500;

/** What the end of a run removes, unless it sets it. */
const RUN_FIELDS = ['lease', 'dueAt', 'line', 'slotAt', 'expectedAt', 'unfinished', 'limited', 'awaitedLink'];

/** What another generation begins without. */
const REQUEUED_FIELDS = ('lease dueAt waitingFor parked finishedAt line slotAt expectedAt expiresAt' as const).split(
  ' ',
);

const lineOf = (connection: string, lane: Lane, operation?: string) =>
  [connection, lane, operation].filter((part) => part !== undefined).join('#');

/** The operation that a job stands in line for; undefined if it waits for the budget or the whole connection. */
export const operationOfLine = (line: string): string | undefined => line.split('#')[2];

/** Why a job could not be claimed. */
export type Unclaimed = { unclaimed: 'gone' | 'stale' | 'ended' } | { unclaimed: 'leased' | 'not due'; until: number };

/** The writing worker no longer holds the job: its lease expired, and another worker took over. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(jobId: string) {
    super(`the lease of ${jobId} expired and another worker holds the job`);
  }
}

/** The right of one worker to work on a job. */
export interface Lease {
  owner: string;
  /** True if no other worker has taken over the job. */
  isHeld(): Promise<boolean>;
}

/** Why a run ended with a wait, and what it left behind. */
export interface Waiting {
  waitsFor: WaitsFor;
  why: string;
  attempts: number;
  /** If it waits for a linked account. A job that runs on, ends or is parked begins another wait. */
  awaitedLink?: Job['awaitedLink'];
  /** The steps that it began and did not finish. */
  unfinished?: readonly UnfinishedStep[];
  /** Whether a step was done in the run. */
  hasGotOn?: boolean;
  limited?: Job['limited'];
}

/** How a job waits for its due time. */
export interface Wait extends Waiting {
  /** Epoch milliseconds. */
  dueAt: number;
  /**
   * What happens to its message: it sleeps in the queue together with its group; a new message is sent, which sleeps
   * separately; or the message leaves the queue, and the sweep sends a new one when the job is due.
   */
  message: 'sleeps' | 'is sent again' | 'leaves';
}

/**
 * Job records. Every write is conditional on the state that it assumes. Lists leave out the records that cannot be read.
 */
export interface JobStore {
  /** @throws {UnreadableItem} */
  get(jobId: string): Promise<Job | undefined>;
  /**
   * @param standsFor stores the job directly in its waiting line, without a message, and says what it waits for there
   * @returns the job, and whether this call stored it
   */
  store(draft: JobDraft, standsFor?: string): Promise<{ job: Job; stored: boolean }>;
  /**
   * Claims the job for one worker. Taking over from a worker whose lease expired counts as an attempt, because that
   * worker crashed.
   * @param generation of the message that brought the job
   * @param until when the lease ends
   * @returns `gone` for a record that cannot be read, which is parked
   */
  claim(jobId: string, generation: number, owner: string, until: number): Promise<Job | Unclaimed>;
  /** Puts an unclaimed job into the line. @returns false if it changed in the meantime */
  standInLineAtOnce(job: Pick<Job, 'id' | 'connection' | 'lane' | 'generation'>, why: string): Promise<boolean>;
  lease(job: Job): Lease | undefined;
  succeed(job: Job, ending: { outcome: string; notDone: boolean }): Promise<void>;
  park(job: Job, parked: Parked): Promise<void>;
  /** @returns the waiting job; with a new generation if its message is `sent again` */
  wait(job: Job, wait: Wait): Promise<Job>;
  /**
   * Starts the next generation of a job that no worker holds: it was replayed, is due, or lost its worker in a crash. A
   * crash counts as an attempt.
   * @param decision of the operator who continues or ends the job
   * @returns the job to queue, or undefined if it changed in the meantime
   */
  requeue(job: Job, decision?: OperatorDecision): Promise<Job | undefined>;
  /**
   * Adds a decision about something other than the job's state.
   * @returns false if the job is gone or changed in the meantime
   */
  noteDecision(job: Job, decision: OperatorDecision): Promise<boolean>;
  /** Puts the job into the waiting line of its connection and lane, or of an operation there, in the order of events. */
  standInLine(
    job: Job,
    wait: Waiting & { expectedAt?: number | undefined; operation?: string | undefined },
  ): Promise<void>;
  /** The first jobs of a waiting line; the index may lag behind. */
  line(connection: string, lane: Lane, limit: number, operation?: string): Promise<StandingJob[]>;
  /**
   * Calls a job from the line for a slot. Its message may be sent immediately, and sleeps until the slot opens.
   * @param slotAt when the job's slot opens
   * @returns the job to queue, or undefined if it was called or left the line in the meantime
   */
  callFromLine(job: StandingJob, dueAt: number, slotAt: number): Promise<StandingJob | undefined>;
  /** Extends a job's time in line. The sweep calls this. */
  keepInLine(job: Job): Promise<void>;
  /**
   * All jobs of one status with a time so far ahead that no job can wait for it, and then those that are due by `by`,
   * earliest first, page by page. A record that cannot be read is parked, so that it is in the way once only.
   */
  due(status: JobStatus, by: number): AsyncIterable<Job[]>;
  /** Jobs of one status that are due by `by`, or the newest ones without `by`. */
  list(status: JobStatus, options: { by?: number; limit: number; newestFirst?: boolean }): Promise<Job[]>;
  /** The jobs that were parked in that time, inclusive, oldest first, page by page. The index may lag behind. */
  parkedBetween(from: number, to: number): AsyncIterable<Job[]>;
}

/** @param warn gets a line for each record that cannot be read */
export function createJobStore(table: Table, clock: () => number, warn: (line: object) => void = () => {}): JobStore {
  /** Ends a run: releases the lease, writes the fields that are set here, and removes the others. */
  async function endRun(job: Job, set: Partial<Job>, kept: { expiresAt?: number } = {}): Promise<void> {
    const owner = job.lease?.owner;
    const values: Item = { ...set, ...kept };
    const over = RUN_FIELDS.filter((name) => values[name] === undefined);
    const changed = await table.update(
      keys.job(job.id),
      {
        expression: `SET ${assignments(values)} REMOVE ${over.map((name) => `#${name}`).join(', ')}`,
        values,
      },
      { expression: '#lease.#owner = :owner', values: { owner } },
    );
    if (!changed) throw new LeaseLost(job.id);
  }

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

  /** Parks a record that cannot be read. Once an operator has corrected it, it is a parked job like any other. */
  async function setAside(jobId: string, { message }: UnreadableItem): Promise<undefined> {
    const now = clock();
    const reason = 'its record could not be read';
    const parked: Parked = { reason, kind: 'needs an operator', outcomeUnknown: false };
    const values = { status: 'parked', parked, wakeAt: now, finishedAt: now };
    const over = ['lease', 'dueAt', 'line', 'slotAt'].map((name) => `#${name}`).join(', ');
    const change = { expression: `SET ${assignments(values)} REMOVE ${over}`, values };
    const unlessEnded = {
      expression: 'attribute_exists(#pk) AND #status <> :succeeded AND #status <> :parked',
      values: { succeeded: 'succeeded' },
    };
    if (await table.update(keys.job(jobId), change, unlessEnded)) warn({ message, jobId });
  }

  /** Reads items, and notes those that cannot be read, so that they are set aside. */
  function readerOf<T>(read: (item: Item) => T) {
    const unreadable: [string, UnreadableItem][] = [];
    return {
      read: (items: readonly Item[]): T[] =>
        items.flatMap(
          (item) =>
            unlessUnreadable(
              () => read(item),
              (error) => unreadable.push([idOfRecord(item), error]),
            ) ?? [],
        ),
      async setAside(): Promise<void> {
        for (const [id, error] of unreadable) await setAside(id, error);
      },
    };
  }

  /** The jobs among some items. Those that cannot be read are set aside. */
  async function readJobs(items: readonly Item[]): Promise<Job[]> {
    const reader = readerOf(jobOfItem);
    const jobs = reader.read(items);
    await reader.setAside();
    return jobs;
  }

  function waitingFields(
    job: Job,
    { waitsFor, why, attempts, unfinished = [], hasGotOn, limited }: Waiting,
  ): Partial<Job> {
    const now = clock();
    return {
      status: 'waiting',
      waitingFor: why,
      attempts,
      waits: beginWait(job.waits, { for: waitsFor, from: now, why }),
      ...(unfinished.length > 0 && { unfinished: [...unfinished] }),
      ...(hasGotOn && { gotOn: { generation: job.generation, at: now } }),
      ...(limited && { limited }),
    };
  }

  return {
    get,
    async store(draft, standsFor) {
      const now = clock();
      const place =
        standsFor === undefined
          ? { status: 'queued' as const, wakeAt: now + UNCLAIMED_MS }
          : {
              status: 'waiting' as const,
              wakeAt: now + LINE_GRACE_MS,
              line: lineOf(draft.connection, draft.lane),
              waitingFor: standsFor,
            };
      const job: Job = { ...draft, ...place, createdAt: now, generation: 1, attempts: 0 };
      const unlessThere = {
        expression: 'attribute_not_exists(#pk) OR (#status = :succeeded AND #expiresAt <= :now)',
        values: { now: now / SECOND, succeeded: 'succeeded' },
      };
      if (await table.put({ ...keys.job(job.id), ...job }, unlessThere)) {
        return { job, stored: true };
      }
      const existing = await readOr(draft.id, async () => job);
      // Happens only if the record expired between the two calls.
      return existing ? { job: existing, stored: false } : this.store(draft, standsFor);
    },
    async claim(jobId, generation, owner, until) {
      const now = clock();
      const job = await readOr(jobId, (error) => setAside(jobId, error));
      if (!job) return { unclaimed: 'gone' };
      if (job.status === 'succeeded' || job.status === 'parked') return { unclaimed: 'ended' };
      if (job.generation !== generation) return { unclaimed: 'stale' };
      const isLeased = job.lease && job.lease.until > now && job.lease.until <= now + LONGEST_LEASE_MS;
      if (job.lease && isLeased) return { unclaimed: 'leased', until: job.lease.until };
      if (job.status === 'waiting' && job.dueAt !== undefined && job.dueAt > now) {
        return { unclaimed: 'not due', until: job.dueAt };
      }
      const attempts = job.attempts + (job.status === 'running' ? 1 : 0);
      const lease = { owner, until };
      const waits = endWait(job.waits, now);
      const claimed = await table.update(
        keys.job(jobId),
        {
          expression: `SET #status = :running, #lease = :lease, #attempts = :attempts, #wakeAt = :wakeAt${waits ? ', #waits = :waits' : ''} REMOVE #dueAt, #waitingFor, #expiresAt`,
          values: { running: 'running', lease, attempts, wakeAt: until, ...(waits && { waits }) },
        },
        {
          expression: job.lease
            ? '#generation = :generation AND #lease.#owner = :lastOwner'
            : '#generation = :generation AND attribute_not_exists(#lease)',
          values: { generation, ...(job.lease && { lastOwner: job.lease.owner }) },
        },
      );
      if (!claimed) return { unclaimed: 'leased', until: now + SECOND };
      return { ...jobOfItem(claimed), ...(job.dueAt !== undefined && { dueAt: job.dueAt }) };
    },
    lease({ id, lease }) {
      return lease && { owner: lease.owner, isHeld: async () => (await get(id))?.lease?.owner === lease.owner };
    },
    async succeed(job, { outcome, notDone }) {
      const now = clock();
      await endRun(
        job,
        { status: 'succeeded', outcome, notDone, finishedAt: now, wakeAt: now },
        { expiresAt: expiry(now) },
      );
    },
    async park(job, parked) {
      const now = clock();
      await endRun(job, { status: 'parked', parked, finishedAt: now, wakeAt: now, attempts: job.attempts });
    },
    async wait(job, { dueAt, message, awaitedLink, ...waiting }) {
      const generation = job.generation + (message === 'is sent again' ? 1 : 0);
      const wakeAt = message === 'leaves' ? dueAt : dueAt + WAKE_GRACE_MS;
      const link = awaitedLink && { awaitedLink };
      const fields = waitingFields(job, waiting);
      await endRun(job, { ...fields, ...link, dueAt, wakeAt, generation });
      return { ...job, ...fields, generation };
    },
    async standInLine(job, { expectedAt, operation, ...waiting }) {
      const line = lineOf(job.connection, job.lane, operation);
      const wakeAt = clock() + LINE_GRACE_MS;
      await endRun(job, { ...waitingFields(job, waiting), line, wakeAt, ...(expectedAt && { expectedAt }) });
    },
    async standInLineAtOnce(job, why) {
      const changed = await table.update(
        keys.job(job.id),
        {
          expression: 'SET #status = :waiting, #line = :line, #waitingFor = :why, #wakeAt = :wakeAt, #waits = :waits',
          values: {
            waiting: 'waiting',
            line: lineOf(job.connection, job.lane),
            why,
            wakeAt: clock() + LINE_GRACE_MS,
            waits: beginWait(undefined, { for: 'budget', from: clock(), why }),
          },
        },
        {
          expression: '#generation = :generation AND #status = :queued',
          values: { generation: job.generation, queued: 'queued' },
        },
      );
      return changed !== undefined;
    },
    async line(connection, lane, limit, operation) {
      const condition = { expression: '#line = :line', values: { line: lineOf(connection, lane, operation) } };
      const { read, setAside } = readerOf(standingJobOfItem);
      const standing = await table.queryIndex(waitingLine.name, condition, { limit, newestFirst: false, read });
      await setAside();
      return standing;
    },
    async callFromLine(job, dueAt, slotAt) {
      const called = await table.update(
        keys.job(job.id),
        {
          expression: 'SET #generation = :next, #dueAt = :dueAt, #slotAt = :slotAt, #wakeAt = :wakeAt',
          values: { next: job.generation + 1, dueAt, slotAt, wakeAt: dueAt + WAKE_GRACE_MS },
        },
        {
          expression:
            '#generation = :generation AND #status = :waiting AND attribute_exists(#line) AND attribute_not_exists(#slotAt)',
          values: { generation: job.generation, waiting: 'waiting' },
        },
      );
      return called && (await readJobs([called]))[0];
    },
    async requeue(job, decision) {
      const now = clock();
      let { attempts } = job;
      if (job.status === 'parked') attempts = 0;
      if (job.status === 'running') attempts += 1;
      const queuedAt = job.status === 'queued' ? queuedSince(job) : now;
      // Twice as late each time: while no worker runs, a backlog is not sent again every minute.
      const wakeAt = now + Math.min(Math.max(UNCLAIMED_MS, now - queuedAt), LONGEST_UNCLAIMED_MS);
      const set: Partial<Job> = {
        status: 'queued',
        generation: job.generation + 1,
        queuedAt,
        wakeAt,
        attempts,
        ...(decision && { gotOn: { generation: job.generation + 1, at: now } }),
        ...(job.status === 'parked' && withParkedTime(job, now)),
        ...(decision && { decisions: withDecision(job.decisions, decision) }),
        ...(decision?.what === 'discarded' && { discarded: { by: decision.by, reason: decision.reason ?? '' } }),
      };
      const removed = job.status === 'parked' && !set.discarded ? [...REQUEUED_FIELDS, 'discarded'] : REQUEUED_FIELDS;
      const requeued = await table.update(
        keys.job(job.id),
        {
          expression: `SET ${assignments({ ...set })} REMOVE ${removed.map((name) => `#${name}`).join(', ')}`,
          values: { ...set },
        },
        asRead(job),
      );
      return requeued && jobOfItem(requeued);
    },
    async noteDecision(job, decision) {
      const noted = await table.update(
        keys.job(job.id),
        { expression: 'SET #decisions = :decisions', values: { decisions: withDecision(job.decisions, decision) } },
        asRead(job),
      );
      return noted !== undefined;
    },
    async keepInLine(job) {
      await table.update(
        keys.job(job.id),
        { expression: 'SET #wakeAt = :wakeAt', values: { wakeAt: clock() + LINE_GRACE_MS } },
        { expression: '#generation = :generation AND attribute_exists(#line)', values: { generation: job.generation } },
      );
    },
    async *due(status, by) {
      const ahead = clock() + LONGEST_WAIT_MS;
      for (const condition of [
        // First, because they are few, and a reader may have enough before the end of the others.
        { expression: '#status = :status AND #wakeAt > :ahead', values: { status, ahead } },
        { expression: '#status = :status AND #wakeAt <= :by', values: { status, by } },
      ]) {
        for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE)) yield await readJobs(items);
      }
    },
    async list(status, { by, limit, newestFirst = false }) {
      const values: Item = { status };
      if (by !== undefined) values.by = by;
      const expression = by === undefined ? '#status = :status' : '#status = :status AND #wakeAt <= :by';
      const read = (items: readonly Item[]) => readableJobs(items, clock());
      return table.queryIndex(jobsByStatus.name, { expression, values }, { limit, newestFirst, read });
    },
    async *parkedBetween(from, to) {
      // A parked job was parked at its `wakeAt`.
      const condition = {
        expression: '#status = :parked AND #wakeAt BETWEEN :from AND :to',
        values: { parked: 'parked', from, to },
      };
      for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE))
        yield readableJobs(items, clock());
    },
  };
}

/** `#name = :name` for each value that is set. */
function assignments(values: Item): string {
  const set = Object.keys(values).filter((name) => values[name] !== undefined);
  return set.map((name) => `#${name} = :${name}`).join(', ');
}

/** True if the job has not changed since it was read. */
function asRead({ generation, status, wakeAt }: Job): Expression {
  return {
    expression: '#generation = :wasGeneration AND #status = :wasStatus AND #wakeAt = :wasWakeAt',
    values: { wasGeneration: generation, wasStatus: status, wasWakeAt: wakeAt },
  };
}

/** Being parked was a wait too. */
function withParkedTime({ waits, parked, finishedAt }: Job, now: number): Pick<Job, 'waits'> {
  const wait = { for: 'operator', from: finishedAt ?? now, why: parked?.reason ?? '' } as const;
  const ended = endWait(beginWait(waits, wait), now);
  return ended ? { waits: ended } : {};
}
