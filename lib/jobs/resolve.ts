import type { Table } from '../table/table.ts';
import type { Job } from './job.ts';
import { openJournal } from './journal.ts';
import type { Created } from './steps.ts';
import { requeueJob, type SweepOptions } from './sweep.ts';

/** What a person found out about a creation of which the relay could not say if it was carried out. */
export type Resolution = { done: string | number } | 'again';

/** The service accepts a timestamp for five minutes (docs/partner-api.md#requests), so a delayed request too. */
const CARRIED_OUT_WITHIN_MS = 5 * 60_000;

/**
 * Lets a job go on that is parked because the outcome of a creating step is unknown: with the id of what was created,
 * or by looking for it once more and, where it is not found, creating it again.
 *
 * @returns the queued job
 * @throws {Error} for a job in another state, and for `again` while the same bytes can still be carried out
 */
export async function resolveJob(
  job: Job,
  resolution: Resolution,
  options: SweepOptions & { table: Table; clock: () => number },
): Promise<Job> {
  if (job.status !== 'parked' || !job.parked?.outcomeUnknown) {
    throw new Error(`${job.id} is not parked with an unknown outcome (it is ${job.status})`);
  }
  const journal = await openJournal(options.table, job.id, options.clock);
  for (const step of journal.openSteps()) {
    const open = journal.openRequest(step);
    if (!open) continue;
    if (resolution === 'again') {
      verifyIsOver(open.request.signedAt + CARRIED_OUT_WITHIN_MS, options.clock());
      await journal.keepRequest(step, { ...open, again: true });
      continue;
    }
    const now = options.clock();
    const result: Created = { id: resolution.done, signed: open.signed };
    const { calls, startedAt } = journal.entry(step) ?? { calls: step, startedAt: now };
    const note = 'a person found what was created';
    await journal.write({ step, calls, status: 'done', startedAt, finishedAt: now, result, note });
    await journal.dropRequest(step);
  }
  const queued = await requeueJob(job, options);
  if (!queued) throw new Error(`${job.id} changed in this moment; look at it again`);
  return queued;
}

function verifyIsOver(until: number, now: number): void {
  if (now >= until) return;
  const time = new Date(until).toISOString().replace('T', ' ').slice(0, 19);
  throw new Error(
    `the request may still be carried out until ${time} UTC, because the service takes it for five minutes after it was signed; resolve it after that, or say --done if you found what it created`,
  );
}
