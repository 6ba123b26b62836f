import { HttpError } from '../lib/http/function-url.ts';
import { openJournal } from '../lib/jobs/journal.ts';
import type { JobDetail } from './contract.ts';
import type { ConsoleRelay } from './relay.ts';
import { rowOf } from './row.ts';

/** @throws {HttpError} if there is no such job */
export async function jobDetail({ stores, runtime }: ConsoleRelay, id: string): Promise<JobDetail> {
  const job = await stores.jobs.get(id);
  if (!job) throw new HttpError(404, `there is no job ${id}`);
  const journal = await openJournal(stores.table, id, runtime.clock);
  return {
    ...rowOf(job),
    attempts: job.attempts,
    generation: job.generation,
    input: job.input,
    steps: journal.entries().map(({ failures, ...entry }) => ({ ...entry, sends: [] })),
    periods: [],
    decisions: [],
    next: { text: '', actions: [] },
  };
}
