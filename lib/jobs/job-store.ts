import type { Lane } from '../budget/lanes.ts';
import { expiry, isExpired } from '../table/expiry.ts';
import { jobsByStatus, type Key, keys, waitingLine } from '../table/keys.ts';
import type { Expression, Item, Table } from '../table/table.ts';
import { beginWait, endWait, type OperatorDecision, type WaitsFor, withDecision } from './history.ts';
import type { Asked, Job, JobDraft, JobStatus, Parked, UnfinishedStep } from './job.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A stored job that is not queued by then has lost its sender. */
const SEND_GRACE_MS = MINUTE;
/** SQS keeps a message for 14 days. The sweep checks a queued job much earlier, but not while a backlog is normal. */
const QUEUE_GRACE_MS = 6 * 60 * MINUTE;
/** How late a sleeping message may wake before the sweep treats the job as lost. */
const WAKE_GRACE_MS = 2 * MINUTE;

/** How often the sweep checks that the connection of a job in line still exists. */
const LINE_GRACE_MS = 60 * MINUTE;
/** The number of jobs that the sweep reads at a time. */
const DUE_PAGE = 500;

/** What the end of a run removes, unless it sets it. */
const RUN_FIELDS = ['lease', 'dueAt', 'line', 'slotAt', 'expectedAt', 'unfinished', 'awaitedLink'];

/** What another generation begins without. */
const REQUEUED_FIELDS = (
  'queuedAt lease dueAt waitingFor parked finishedAt line slotAt expectedAt expiresAt' as const
).split(' ');

const lineOf = (connection: string, lane: Lane) => `${connection}#${lane}`;

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

/** A job in a waiting line, as read from the index. */
export type StandingJob = Pick<Job, 'id' | 'generation' | 'lane' | 'entity' | 'slotAt' | 'createdAt'>;

/** Job records. Every write is conditional on the state that it assumes. */
export interface JobStore {
  get(jobId: string): Promise<Job | undefined>;
  /**
   * @param standsFor stores the job directly in its waiting line, without a message, and says what it waits for there
   * @returns the job, and whether this call stored it
   */
  store(draft: JobDraft, standsFor?: string): Promise<{ job: Job; stored: boolean }>;
  noteQueued(job: Job): Promise<void>;
  /**
   * Claims the job for one worker. Taking over from a worker whose lease expired counts as an attempt, because that
   * worker crashed.
   * @param generation of the message that brought the job
   * @param until when the lease ends
   */
  claim(jobId: string, generation: number, owner: string, until: number): Promise<Job | Unclaimed>;
  /** Puts an unclaimed job into the line. @returns false if it changed in the meantime */
  standInLineAtOnce(job: Pick<Job, 'id' | 'connection' | 'lane'>, why: string): Promise<boolean>;
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
  /** Puts the job into the waiting line of its connection and lane, in the order of events. */
  standInLine(job: Job, wait: Waiting & { expectedAt?: number | undefined }): Promise<void>;
  /** The first jobs of a waiting line; the index may lag behind. */
  line(connection: string, lane: Lane, limit: number): Promise<StandingJob[]>;
  /**
   * Calls a job from the line for a slot. Its message may be sent immediately, and sleeps until the slot opens.
   * @param slotAt when the job's slot opens
   * @returns the job to queue, or undefined if it was called or left the line in the meantime
   */
  callFromLine(job: StandingJob, dueAt: number, slotAt: number): Promise<StandingJob | undefined>;
  /** Extends a job's time in line. The sweep calls this. */
  keepInLine(job: Job): Promise<void>;
  /** All jobs of one status that are due by `by`, earliest first, page by page. */
  due(status: JobStatus, by: number): AsyncIterable<Job[]>;
  /** Jobs of one status that are due by `by`, or the newest ones without `by`. */
  list(status: JobStatus, options: { by?: number; limit: number; newestFirst?: boolean }): Promise<Job[]>;
  /** The jobs that were parked in that time, inclusive, oldest first, page by page. The index may lag behind. */
  parkedBetween(from: number, to: number): AsyncIterable<Job[]>;
}

export function createJobStore(table: Table, clock: () => number): JobStore {
  /** Ends a run: releases the lease, writes the fields that are set here, and removes the others. */
  async function endRun(job: Job, set: Partial<Job>, kept: { expiresAt?: number } = {}): Promise<void> {
    const owner = job.lease?.owner;
    const values: Item = { ...set, ...kept, endedBy: owner };
    const over = RUN_FIELDS.filter((name) => values[name] === undefined);
    const changed = await table.update(
      keys.job(job.id),
      {
        expression: `SET ${assignments(values)} REMOVE ${over.map((name) => `#${name}`).join(', ')}`,
        values,
      },
      { expression: '#lease.#owner = :owner', values: { owner } },
    );
    // The SDK retries a write whose answer was lost. In that case our own first write has removed the lease.
    if (!changed && (await get(job.id))?.endedBy !== owner) throw new LeaseLost(job.id);
  }

  async function get(jobId: string): Promise<Job | undefined> {
    const item = await table.getEvenExpired(keys.job(jobId));
    return item && jobOfItem(item, clock());
  }

  function waitingFields(job: Job, { waitsFor, why, attempts, unfinished = [] }: Waiting): Partial<Job> {
    return {
      ...{ status: 'waiting', waitingFor: why, attempts },
      waits: beginWait(job.waits, { for: waitsFor, from: clock(), why }),
      ...(unfinished.length > 0 && { unfinished: [...unfinished] }),
    };
  }

  return {
    get,
    async store(draft, standsFor) {
      const now = clock();
      const place =
        standsFor === undefined
          ? { status: 'queued' as const, wakeAt: now + SEND_GRACE_MS }
          : {
              ...{ status: 'waiting' as const, wakeAt: now + LINE_GRACE_MS },
              ...{ line: lineOf(draft.connection, draft.lane), waitingFor: standsFor },
            };
      const job: Job = { ...draft, ...place, createdAt: now, generation: 1, attempts: 0 };
      const unlessThere = {
        expression: 'attribute_not_exists(#pk) OR (#status = :succeeded AND #expiresAt <= :now)',
        values: { now: now / SECOND, succeeded: 'succeeded' },
      };
      if (await table.put({ ...keys.job(job.id), ...job }, unlessThere)) {
        return { job, stored: true };
      }
      const existing = await get(draft.id);
      // Happens only if the record expired between the two calls.
      return existing ? { job: existing, stored: false } : this.store(draft, standsFor);
    },
    async noteQueued(job) {
      const now = clock();
      await table.update(
        keys.job(job.id),
        { expression: 'SET #queuedAt = :now, #wakeAt = :wakeAt', values: { now, wakeAt: now + QUEUE_GRACE_MS } },
        // The worker may have been faster. In that case there is nothing to mark.
        {
          expression: '#generation = :generation AND #status = :queued',
          values: { generation: job.generation, queued: 'queued' },
        },
      );
    },
    async claim(jobId, generation, owner, until) {
      const now = clock();
      const job = await get(jobId);
      if (!job) return { unclaimed: 'gone' };
      if (job.status === 'succeeded' || job.status === 'parked') return { unclaimed: 'ended' };
      if (job.generation !== generation) return { unclaimed: 'stale' };
      if (job.lease && job.lease.until > now) return { unclaimed: 'leased', until: job.lease.until };
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
      const ours = claimed ? asJob(claimed) : await get(jobId);
      // Also true if the SDK retried a write whose answer was lost.
      if (ours?.lease?.owner !== owner) return { unclaimed: 'leased', until: now + SECOND };
      return { ...ours, ...(job.dueAt !== undefined && { dueAt: job.dueAt }) };
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
      await endRun(job, { ...waitingFields(job, waiting), ...link, dueAt, wakeAt, generation });
      return { ...job, generation };
    },
    async standInLine(job, { expectedAt, ...waiting }) {
      const line = lineOf(job.connection, job.lane);
      const wakeAt = clock() + LINE_GRACE_MS;
      await endRun(job, { ...waitingFields(job, waiting), line, wakeAt, ...(expectedAt && { expectedAt }) });
    },
    async standInLineAtOnce(job, why) {
      const changed = await table.update(
        keys.job(job.id),
        {
          expression: 'SET #status = :waiting, #line = :line, #waitingFor = :why, #wakeAt = :wakeAt, #waits = :waits',
          values: {
            ...{ waiting: 'waiting', line: lineOf(job.connection, job.lane), why, wakeAt: clock() + LINE_GRACE_MS },
            waits: beginWait(undefined, { for: 'budget', from: clock(), why }),
          },
        },
        {
          expression: '#generation = :first AND #status = :queued',
          values: { first: 1, queued: 'queued' },
        },
      );
      return changed !== undefined;
    },
    async line(connection, lane, limit) {
      const condition = { expression: '#line = :line', values: { line: lineOf(connection, lane) } };
      const items = await table.queryIndex(waitingLine.name, condition, { limit, newestFirst: false });
      return items as (Item & StandingJob)[];
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
      return called && asJob(called);
    },
    async requeue(job, decision) {
      const now = clock();
      let { attempts } = job;
      if (job.status === 'parked') attempts = 0;
      if (job.status === 'running') attempts += 1;
      const set: Partial<Job> = {
        ...{ status: 'queued', generation: job.generation + 1, wakeAt: now + SEND_GRACE_MS, attempts },
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
      return requeued && asJob(requeued);
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
      const condition = { expression: '#status = :status AND #wakeAt <= :by', values: { status, by } };
      for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE)) yield items.map(asJob);
    },
    async list(status, { by, limit, newestFirst = false }) {
      const values: Item = { status };
      if (by !== undefined) values.by = by;
      const expression = by === undefined ? '#status = :status' : '#status = :status AND #wakeAt <= :by';
      const items = await table.queryIndex(jobsByStatus.name, { expression, values }, { limit, newestFirst });
      return items.flatMap((item) => jobOfItem(item, clock()) ?? []);
    },
    async *parkedBetween(from, to) {
      // A parked job was parked at its `wakeAt`.
      const condition = {
        expression: '#status = :parked AND #wakeAt BETWEEN :from AND :to',
        values: { parked: 'parked', from, to },
      };
      for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE)) yield items.map(asJob);
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

/** Earlier versions set an expiry on every stored job. Only ended jobs may expire. */
function isGone(item: Item, now: number): boolean {
  return item.status === 'succeeded' && isExpired(item, now);
}

/** The job in an item of the table or of its index; undefined if it has expired. */
export function jobOfItem(item: Item, now: number): Job | undefined {
  return isGone(item, now) ? undefined : asJob(item);
}

function asJob(item: Item): Job {
  const { pk, sk, expiresAt, ...job } = item as Item & Key & Job;
  return job.asked ? job : { ...job, ...askedInInput(job.input) };
}

/** Earlier versions stored the person's request in the input. */
function askedInInput({ verb, comment, unproven }: Asked): { asked?: Asked } {
  if (!verb && !unproven) return {};
  return { asked: { ...(verb && { verb }), ...(comment && { comment }), ...(unproven && { unproven }) } };
}
