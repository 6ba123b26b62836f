import * as z from 'zod';
import type { JobFilter } from '../lib/engine/operate/find-jobs.ts';
import { jobStatuses } from '../lib/engine/record/job.ts';
import { lanes } from '../lib/service/budget/lanes.ts';
import { findPage } from './find-page.ts';
import { readSent } from './read-sent.ts';
import type { OperatedRelay } from './relay.ts';
import { rowsOf } from './row.ts';

/** An empty field of the form is no filter. */
const text = z
  .string()
  .trim()
  .max(200)
  .transform((given) => given || undefined)
  .optional();

const query = z.object({
  automation: text,
  connection: text,
  lane: z.enum(lanes).optional(),
  subject: text,
  person: text,
  delivery: text,
  text,
  cursor: z.string().max(2_000).optional(),
  limit: z.coerce.number().int().min(1).max(50).optional(),
  status: z.preprocess((given) => given || undefined, z.enum(jobStatuses).optional()),
  since: z.coerce.number().int().nonnegative().optional(),
});

/**
 * Returns a page of jobs.
 * @throws {HttpError} if a filter or the cursor is invalid
 */
export async function listJobs(relay: OperatedRelay, params: URLSearchParams) {
  const given = Object.fromEntries([...params].filter(([, value]) => value !== ''));
  const { status, subject, cursor, limit, ...rest } = readSent(query, given, 'the filter cannot be read');
  const filter: JobFilter = { ...rest, place: subject, ...(status && { statuses: [status] }) };
  const found = await findPage(relay, filter, cursor, limit);
  return { jobs: await rowsOf(found.jobs, relay), read: found.read, cursor: found.cursor };
}
