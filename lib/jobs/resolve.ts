import { localTime } from '../local-time.ts';
import type { Table } from '../table/table.ts';
import type { OperatorDecision } from './history.ts';
import type { Job } from './job.ts';
import { type OpenRequest, openJournal } from './journal.ts';
import type { Created } from './steps.ts';
import { requeueJob, type SweepOptions } from './sweep.ts';
import type { VerifyCreated } from './verify-created.ts';

/** A person's decision about a creation with an unknown outcome. */
export type Resolution = { done: string | number; verify: VerifyCreated } | 'again';

/**
 * The service accepts a timestamp for five minutes (docs/partner-api.md#requests), so a delayed request can still
 * succeed.
 */
export const EXECUTABLE_FOR_MS = 5 * 60_000;

export interface ResolveOptions extends SweepOptions {
  table: Table;
  clock: () => number;
  /** The operator. */
  by: string;
}

/**
 * Continues a job that is parked because the outcome of a creating step is unknown: either with the id of the created
 * object, or by searching once more and creating it again if it is not found.
 *
 * @returns the queued job
 * @throws {Error} if the job is in another state, for an id that {@link VerifyCreated} refuses, or for `again` while the
 *   same bytes can still be executed
 */
export async function resolveJob(job: Job, resolution: Resolution, options: ResolveOptions): Promise<Job> {
  if (job.status !== 'parked' || !job.parked?.outcomeUnknown) {
    throw new Error(`${job.id} is not parked with an unknown outcome; its status is ${job.status}`);
  }
  const journal = await openJournal(options.table, job.id, options.clock);
  for (const step of journal.openSteps()) {
    const open = journal.openRequest(step);
    if (!open) continue;
    if (resolution === 'again') {
      verifyIsOver(open, options.clock());
      await journal.keepRequest(step, { ...open, again: true });
      continue;
    }
    const now = options.clock();
    const { calls, startedAt, sends } = journal.entry(step) ?? { calls: open.operation ?? step, startedAt: now };
    const id = await resolution.verify({
      connection: job.connection,
      operation: open.operation ?? calls,
      scope: open.found?.scope ?? {},
      id: resolution.done,
    });
    const result: Created = { id, signed: open.signed };
    const settledBy = `${options.by} found what was created`;
    const times = { startedAt, resumedAt: now, finishedAt: now };
    await journal.write({ step, calls, status: 'done', ...times, ...(sends && { sends }), result, settledBy });
    await journal.dropRequest(step);
  }
  const decision: OperatorDecision =
    resolution === 'again'
      ? { at: options.clock(), by: options.by, what: 'resolved: again' }
      : { at: options.clock(), by: options.by, what: 'resolved: done', reason: `created ${resolution.done}` };
  const queued = await requeueJob(job, options, decision);
  if (!queued) throw new Error(`${job.id} has just changed; check it and try again`);
  return queued;
}

/** @throws {Error} while the service can still execute the request */
export function verifyIsOver({ request }: OpenRequest, now: number): void {
  const until = request.signedAt + EXECUTABLE_FOR_MS;
  if (now >= until) return;
  throw new Error(
    `the request may still be executed until ${localTime(until)}, because the service accepts it for five minutes after signing; decide after that, or resolve the job as done if you found what it created`,
  );
}
