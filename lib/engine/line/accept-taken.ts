import { DAY_MS } from '../../dates.ts';
import { LIFETIME_MS } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Job, JobDraft } from '../record/job.ts';
import { type AcceptedBy, acceptEvent } from './accept-event.ts';

/** A job to store, and when its event happened. */
export interface DatedDraft {
  draft: JobDraft;
  /** When the event happened, in epoch milliseconds. */
  at?: number | undefined;
  /** True if the age of the event is unknown. The relay then remembers the event forever. */
  isForGood?: boolean | undefined;
  keepState?: Parameters<typeof acceptEvent>[2];
}

/** The result of an automation's `on` for an event: jobs, or the reason why there are none. */
export type Taken = readonly DatedDraft[] | string;

export interface AcceptTakenOptions extends AcceptedBy {
  table: Table;
  clock: () => number;
}

/** The result of accepting an event. */
export interface Accepted {
  jobs: { id: string; repeat: boolean }[];
  /** Why there is no job, or no further job. */
  ignored: string[];
}

/** Less than the lifetime of a job's record, to allow for clock differences and deliveries in transit. */
const LONGEST_MS = LIFETIME_MS - DAY_MS;

/**
 * Stores and queues the jobs that an automation makes from an event. @param about fields that describe the event in the
 * log
 */
export async function acceptTaken(
  taken: Taken,
  { log, ...options }: AcceptTakenOptions & { log: Pick<Console, 'info'> },
  about: object,
): Promise<Accepted> {
  if (typeof taken === 'string') return { jobs: [], ignored: [taken] };
  const result: Accepted = { jobs: [], ignored: [] };
  for (const one of taken) {
    const made = await acceptDated(one, options);
    if (typeof made === 'string') {
      result.ignored.push(made);
      continue;
    }
    const { job, repeat } = made;
    log.info({ message: repeat ? 'repeat received' : 'job queued', ...about, jobId: job.id, summary: job.summary });
    result.jobs.push({ id: job.id, repeat });
  }
  return result;
}

/**
 * Stores and queues a job. An event older than 30 days gets no job: job records expire 30 days after their end, so the
 * relay can no longer tell whether the event was already handled.
 *
 * @returns the job, and whether the event was accepted before; or why there is no job
 */
export async function acceptDated(
  { draft, at, isForGood, keepState }: DatedDraft,
  { table, clock, ...by }: AcceptTakenOptions,
): Promise<{ job: Job; repeat: boolean } | string> {
  const now = clock();
  const since = at ?? (isForGood ? await firstAccepted(draft.id, table, now) : now);
  if (now - since <= LONGEST_MS) return acceptEvent(draft, by, keepState);
  const [then, today] = [since, now].map((time) => new Date(time).toISOString());
  return `it happened at ${then}, more than 29 days before ${today}, and may have been done already`;
}

/** Returns when an event without a time first arrived; epoch milliseconds. */
async function firstAccepted(jobId: string, table: Table, now: number): Promise<number> {
  const key = keys.customEvent(jobId);
  if (await table.put({ ...key, at: now }, { expression: 'attribute_not_exists(#pk)' })) return now;
  return Number((await table.get(key))?.at ?? now);
}
