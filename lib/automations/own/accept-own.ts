import { type AcceptedBy, acceptEvent } from '../../engine/line/accept-event.ts';
import type { Job, JobDraft } from '../../engine/record/job.ts';
import { LIFETIME_MS } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { OwnDraft } from './draft.ts';

/** Shorter than a job's record is kept, by a margin for clocks and for deliveries in transit. */
const LONGEST_MS = LIFETIME_MS - 86_400_000;

/**
 * Stores and queues a job of a team's automation. A job's record expires 30 days after its end, so an event that is older
 * makes none: nothing shows any more whether it was done.
 *
 * @returns the job, and whether the event was accepted before; or why there is no job
 */
export async function acceptOwn(
  { draft, at }: OwnDraft,
  { table, clock, ...by }: AcceptedBy & { table: Table; clock: () => number },
): Promise<{ job: Job; repeat: boolean } | string> {
  if (at === undefined) return acceptForGood(draft, { table, clock, ...by });
  return clock() - at > LONGEST_MS ? TOO_OLD : acceptEvent(draft, by);
}

const TOO_OLD = 'it is more than 29 days old, and may have been done already';

/** The same for an event that is remembered without an end, because nothing says how old it is. */
export async function acceptForGood(
  draft: JobDraft,
  { table, clock, ...by }: AcceptedBy & { table: Table; clock: () => number },
): Promise<{ job: Job; repeat: boolean } | string> {
  const first = await firstAccepted(draft.id, table, clock());
  return clock() - first > LONGEST_MS ? TOO_OLD : acceptEvent(draft, by);
}

/** When an event that does not say when it happened came first; epoch milliseconds. */
async function firstAccepted(jobId: string, table: Table, now: number): Promise<number> {
  const key = keys.ownEvent(jobId);
  if (await table.put({ ...key, at: now }, { expression: 'attribute_not_exists(#pk)' })) return now;
  return Number((await table.get(key))?.at ?? now);
}
