import { DAY_MS } from '../../dates.ts';
import { LIFETIME_MS } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Job, JobDraft } from '../record/job.ts';
import { type AcceptedBy, acceptEvent } from './accept-event.ts';

/** A job to be made, and how old its event is. */
export interface DatedDraft {
  draft: JobDraft;
  /** When the event happened, in epoch milliseconds. */
  at?: number | undefined;
  /** Nothing says how old the event is, so it is remembered without an end. */
  isForGood?: boolean | undefined;
  keepState?: Parameters<typeof acceptEvent>[2];
}

/** What an automation makes of an event: its jobs, or the reason why there are none. */
export type Taken = readonly DatedDraft[] | string;

export interface AcceptTakenOptions extends AcceptedBy {
  table: Table;
  clock: () => number;
}

/** What came of an event. */
export interface Accepted {
  jobs: { id: string; repeat: boolean }[];
  /** Why there is no job, or not one more. */
  ignored: string[];
}

/** Shorter than a job's record is kept, by a margin for clocks and for deliveries in transit. */
const LONGEST_MS = LIFETIME_MS - DAY_MS;

/** Stores and queues the jobs that an automation makes of an event. @param about what the log says of the event */
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
 * Stores and queues a job. A job's record expires 30 days after its end, so an event that is older makes none: nothing shows
 * any more whether it was done.
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

/** When an event that does not say when it happened came first; epoch milliseconds. */
async function firstAccepted(jobId: string, table: Table, now: number): Promise<number> {
  const key = keys.customEvent(jobId);
  if (await table.put({ ...key, at: now }, { expression: 'attribute_not_exists(#pk)' })) return now;
  return Number((await table.get(key))?.at ?? now);
}
