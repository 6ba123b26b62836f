import { expiry, isExpired } from '../table/expiry.ts';
import { jobsByStatus, type Key, keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import type { Job, JobDraft, JobStatus, Parked } from './job.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A stored job that nobody has sent to the queue by then has lost its sender. */
const SEND_GRACE_MS = MINUTE;
/** A message keeps for 14 days; the sweep looks after a queued job much earlier, but not while a backlog is normal. */
const QUEUE_GRACE_MS = 6 * 60 * MINUTE;
/** How late a sleeping message may wake before the sweep takes the job for lost. */
const WAKE_GRACE_MS = 2 * MINUTE;

/** Why a job could not be claimed. */
export type Unclaimed = { unclaimed: 'gone' | 'stale' | 'ended' } | { unclaimed: 'leased' | 'not due'; until: number };

/** The worker that writes is not the one that holds the job: its lease ran out, and another took over. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(jobId: string) {
    super(`the lease of ${jobId} ran out and another worker holds the job`);
  }
}

/** The right of one worker to work on a job. */
export interface Lease {
  owner: string;
  /** Whether nobody has taken the job over yet. */
  isHeld(): Promise<boolean>;
}

/** Job records: every write is conditional on what it takes for granted. */
export interface JobStore {
  get(jobId: string): Promise<Job | undefined>;
  /** @returns the job, and whether this call stored it */
  store(draft: JobDraft): Promise<{ job: Job; stored: boolean }>;
  noteQueued(job: Job): Promise<void>;
  /**
   * Takes the job for one worker. Taking over from a worker whose lease ran out counts as an attempt, for it crashed.
   * @param generation of the message that brought the job
   * @param until when the lease ends
   */
  claim(jobId: string, generation: number, owner: string, until: number): Promise<Job | Unclaimed>;
  lease(job: Job): Lease | undefined;
  succeed(job: Job, ending: { outcome: string; notDone: boolean }): Promise<void>;
  park(job: Job, parked: Parked): Promise<void>;
  /** @param asleep whether its message comes back by itself, so that the sweep need not send one */
  wait(job: Job, wait: { dueAt: number; why: string; attempts: number; asleep: boolean }): Promise<void>;
  /**
   * Starts the next generation, for a job that nobody works on: replayed, due, or lost by a worker that crashed, which
   * counts as an attempt.
   * @returns the job to be queued, or undefined where it changed in between
   */
  requeue(job: Job): Promise<Job | undefined>;
  /** Jobs of one status whose time has come by `by`, or the newest. */
  list(status: JobStatus, options: { by?: number; limit: number; newestFirst?: boolean }): Promise<Job[]>;
}

export function createJobStore(table: Table, clock: () => number): JobStore {
  async function change(job: Job, expression: string, values: Item): Promise<void> {
    const held = { expression: '#lease.#owner = :owner', values: { owner: job.lease?.owner } };
    const changed = await table.update(keys.job(job.id), { expression, values }, held);
    if (!changed) throw new LeaseLost(job.id);
  }

  async function get(jobId: string): Promise<Job | undefined> {
    const item = await table.get(keys.job(jobId));
    return item && !isGone(item, clock()) ? asJob(item) : undefined;
  }

  return {
    get,
    async store(draft) {
      const now = clock();
      const job: Job = {
        ...draft,
        status: 'queued',
        createdAt: now,
        wakeAt: now + SEND_GRACE_MS,
        generation: 1,
        attempts: 0,
      };
      const unlessThere = {
        expression: 'attribute_not_exists(#pk) OR (#status = :succeeded AND #expiresAt <= :now)',
        values: { now: now / SECOND, succeeded: 'succeeded' },
      };
      if (await table.put({ ...keys.job(job.id), ...job }, unlessThere)) {
        return { job, stored: true };
      }
      const existing = await get(draft.id);
      // Only where it expired between the two calls.
      return existing ? { job: existing, stored: false } : this.store(draft);
    },
    async noteQueued(job) {
      const now = clock();
      await table.update(
        keys.job(job.id),
        { expression: 'SET #queuedAt = :now, #wakeAt = :wakeAt', values: { now, wakeAt: now + QUEUE_GRACE_MS } },
        // The worker may have been faster; then there is nothing to note.
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
      const claimed = await table.update(
        keys.job(jobId),
        {
          expression:
            'SET #status = :running, #lease = :lease, #attempts = :attempts, #wakeAt = :wakeAt REMOVE #dueAt, #waitingFor, #expiresAt',
          values: { running: 'running', lease, attempts, wakeAt: until },
        },
        {
          expression: job.lease
            ? '#generation = :generation AND #lease.#owner = :lastOwner'
            : '#generation = :generation AND attribute_not_exists(#lease)',
          values: { generation, ...(job.lease && { lastOwner: job.lease.owner }) },
        },
      );
      if (!claimed) return { unclaimed: 'leased', until: now + SECOND };
      return { ...asJob(claimed), ...(job.dueAt !== undefined && { dueAt: job.dueAt }) };
    },
    lease({ id, lease }) {
      return lease && { owner: lease.owner, isHeld: async () => (await get(id))?.lease?.owner === lease.owner };
    },
    async succeed(job, { outcome, notDone }) {
      await change(
        job,
        'SET #status = :succeeded, #outcome = :outcome, #notDone = :notDone, #finishedAt = :now, #wakeAt = :now, #expiresAt = :expiresAt REMOVE #lease',
        { succeeded: 'succeeded', outcome, notDone, now: clock(), expiresAt: expiry(clock()) },
      );
    },
    async park(job, parked) {
      const now = clock();
      await change(
        job,
        'SET #status = :parkedStatus, #parked = :parked, #finishedAt = :now, #wakeAt = :now, #attempts = :attempts REMOVE #lease',
        { parkedStatus: 'parked', parked, now, attempts: job.attempts },
      );
    },
    async wait(job, { dueAt, why, attempts, asleep }) {
      await change(
        job,
        'SET #status = :waiting, #dueAt = :dueAt, #waitingFor = :why, #attempts = :attempts, #wakeAt = :wakeAt REMOVE #lease',
        { waiting: 'waiting', dueAt, why, attempts, wakeAt: asleep ? dueAt + WAKE_GRACE_MS : dueAt },
      );
    },
    async requeue(job) {
      let { attempts } = job;
      if (job.status === 'parked') attempts = 0;
      if (job.status === 'running') attempts += 1;
      const requeued = await table.update(
        keys.job(job.id),
        {
          expression:
            'SET #generation = :next, #wakeAt = :wakeAt, #status = :queued, #attempts = :attempts REMOVE #queuedAt, #lease, #dueAt, #waitingFor, #parked, #finishedAt, #expiresAt',
          values: { next: job.generation + 1, wakeAt: clock() + SEND_GRACE_MS, queued: 'queued', attempts },
        },
        {
          expression: '#generation = :generation AND #status = :was AND #wakeAt = :wasWakeAt',
          values: { generation: job.generation, was: job.status, wasWakeAt: job.wakeAt },
        },
      );
      return requeued && asJob(requeued);
    },
    async list(status, { by, limit, newestFirst = false }) {
      const values: Item = { status };
      if (by !== undefined) values.by = by;
      const expression = by === undefined ? '#status = :status' : '#status = :status AND #wakeAt <= :by';
      const items = await table.queryIndex(jobsByStatus.name, { expression, values }, { limit, newestFirst });
      return items.filter((item) => !isGone(item, clock())).map(asJob);
    },
  };
}

/** Earlier versions gave every job an expiry when it was stored; only what has ended expires. */
function isGone(item: Item, now: number): boolean {
  return item.status === 'succeeded' && isExpired(item, now);
}

function asJob(item: Item): Job {
  const { pk, sk, expiresAt, ...job } = item as Item & Key & { expiresAt: number };
  return job as unknown as Job;
}
