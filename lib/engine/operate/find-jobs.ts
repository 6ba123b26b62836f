import * as z from 'zod/mini';
import type { Lane } from '../../service/budget/lanes.ts';
import { jobsByStatus, keys } from '../../state/table/keys.ts';
import type { Item, Table } from '../../state/table/table.ts';
import { type Job, type JobStatus, jobStatuses, waitOf } from '../record/job.ts';
import { idOfRecord, readableJobs } from '../record/job-item.ts';

/** What a job must be to be found. Every field that is given must match. Text matches in any letter case. */
export interface JobFilter {
  statuses?: readonly JobStatus[] | undefined;
  automation?: string | undefined;
  connection?: string | undefined;
  lane?: Lane | undefined;
  /** `owner/name` or `owner/name#42`. */
  place?: string | undefined;
  /** A GitHub login, with or without `@`, a Slack user id, or the person's name. */
  person?: string | undefined;
  /** The whole id of the cause: GitHub's `X-GitHub-Delivery`, Slack's `trigger_id`. */
  delivery?: string | undefined;
  /** A part of the id, the summary, the outcome, or the reason why it waits or is parked. */
  text?: string | undefined;
  /** Made at or after that time; epoch milliseconds. */
  since?: number | undefined;
}

/** The given cursor is not from a list of jobs. */
export class CursorError extends Error {
  override readonly name = 'CursorError';
}

export interface FindJobsOptions {
  filter: JobFilter;
  /** The cursor of the last answer. Without it, the search starts at the front. */
  cursor?: string | undefined;
  limit: number;
  /** How many pages of the index to read at most, over all statuses; at least one for each status. */
  maxPages: number;
  /** Epoch milliseconds. */
  now: number;
  /** The job as it is shown to people, who look for what they see. */
  shown?: ShowJob;
}

/** A job with names in place of ids. */
export type ShowJob = (job: Job) => Promise<Job>;

/** A part of the jobs that match. */
export interface FoundJobs {
  /**
   * By `wakeAt`, the latest first: jobs that have not ended, then ended jobs by the time of their end. Waiting jobs alone:
   * the soonest first.
   */
  jobs: Job[];
  /** Where to go on. Missing at the end. It may be there although no more jobs match. */
  cursor?: string;
  /** How many of `jobs` have which status. */
  counts: Record<JobStatus, number>;
  /** How many jobs were compared with the filter. */
  read: number;
}

const PAGE_SIZE = 100;

/**
 * Finds jobs in the index of jobs by status, page by page. It never scans the table. The index may lag behind the table
 * for a moment.
 *
 * @throws {CursorError}
 */
export async function findJobs(
  table: Table,
  { filter, cursor, limit, maxPages, now, shown }: FindJobsOptions,
): Promise<FoundJobs> {
  const streams = cursor === undefined ? streamsOf(filter.statuses ?? jobStatuses) : readCursor(cursor);
  const jobs: Job[] = [];
  const counts = { queued: 0, running: 0, waiting: 0, parked: 0, succeeded: 0, 'not-done': 0 };
  let read = 0;
  let pagesLeft = maxPages;
  const isNamed = shown && (filter.text ?? filter.person) !== undefined;
  while (jobs.length < limit) {
    const empty = streams.filter(({ page, isWhole }) => page.length === 0 && !isWhole);
    if (empty.length > pagesLeft) break;
    pagesLeft -= empty.length;
    await Promise.all(empty.map((stream) => readPage(stream, filter, table)));
    const stream = withLatest(streams);
    const item = stream?.page.shift();
    if (!stream || !item) {
      // A page may be empty although the index goes on behind it.
      if (streams.every(({ isWhole }) => isWhole)) break;
      continue;
    }
    stream.after = positionOf(item);
    const [job] = readableJobs([item], now);
    if (!job) continue;
    read++;
    if (!isWanted(job, filter) && !(isNamed && isWanted(await shown(job), filter))) continue;
    jobs.push(job);
    counts[job.status]++;
  }
  const rest = streams.filter(({ page, isWhole }) => page.length > 0 || !isWhole);
  return { jobs, counts, read, ...(rest.length > 0 && { cursor: writeCursor(rest) }) };
}

/** How many of the newest pages of each status are read for the jobs that were just made. */
const NEWEST_PAGES = 2;

/** The jobs that a delivery, a command or a form has just made. A backlog in one status does not hide another status. */
export async function findNewJobs(table: Table, delivery: string, now: number): Promise<Job[]> {
  const found = await Promise.all(
    jobStatuses.map((status) =>
      findJobs(table, { filter: { delivery, statuses: [status] }, limit: 10, maxPages: NEWEST_PAGES, now }),
    ),
  );
  return found.flatMap(({ jobs }) => jobs);
}

/** True if the job has everything that the filter names. */
export function isWanted(job: Job, filter: JobFilter): boolean {
  const { statuses, automation, connection, lane, place, person, delivery, text, since } = filter;
  return (
    (statuses === undefined || statuses.includes(job.status)) &&
    (automation === undefined || job.automation === automation) &&
    (connection === undefined || job.connection === connection) &&
    (lane === undefined || job.lane === lane) &&
    (place === undefined || isAt(job, place.toLowerCase())) &&
    (person === undefined || peopleOf(job).includes(person.replace(/^@/, '').toLowerCase())) &&
    (delivery === undefined || job.cause?.id === delivery) &&
    (text === undefined || textsOf(job).some((one) => one?.toLowerCase().includes(text.toLowerCase()))) &&
    (since === undefined || job.createdAt >= since)
  );
}

function isAt({ entity }: Job, place: string): boolean {
  const at = entity.toLowerCase();
  return at === place || at.startsWith(`${place}#`);
}

function peopleOf({ asked, cause, stranger, replyTo }: Job): string[] {
  const inSlack = replyTo?.in === 'slack' ? replyTo.userId : undefined;
  const people = [asked?.by?.id, cause?.person, stranger, inSlack];
  return people.flatMap((person) => person?.toLowerCase() ?? []);
}

function textsOf(job: Job): (string | undefined)[] {
  const { id, summary, title, entity, outcome, parked } = job;
  return [id, summary, title, entity, outcome, waitOf(job)?.why, parked?.reason];
}

/** The jobs of one status, the latest first. */
interface Stream {
  status: JobStatus;
  /** The last job that was taken. */
  after?: Position | undefined;
  /** The jobs that are read and not taken. */
  page: Item[];
  /** True if nothing follows after `page`. */
  isWhole: boolean;
}

function streamsOf(statuses: readonly JobStatus[]): Stream[] {
  return statuses.map((status) => ({ status, page: [], isWhole: false }));
}

async function readPage(stream: Stream, { since, statuses, delivery }: JobFilter, table: Table): Promise<void> {
  const { status, after } = stream;
  // What a delivery has just made is among the last to continue.
  const soonestFirst = statuses?.join() === 'waiting' && delivery === undefined;
  // No job is due, nor ends, before it is made.
  const condition =
    since === undefined
      ? { expression: '#status = :status', values: { status } }
      : { expression: '#status = :status AND #wakeAt >= :since', values: { status, since } };
  const { items, last } = await table.indexPage(jobsByStatus.name, condition, {
    limit: PAGE_SIZE,
    newestFirst: !soonestFirst,
    after: after && { ...keys.job(after.id), status, wakeAt: after.wakeAt },
  });
  stream.page = items;
  stream.isWhole = last === undefined;
  if (items.length === 0 && last) stream.after = positionOf(last);
}

function withLatest(streams: readonly Stream[]): Stream | undefined {
  const wakeAt = ({ page: [item] }: Stream) => (item ? Number(item.wakeAt) : Number.NEGATIVE_INFINITY);
  const full = streams.filter(({ page }) => page.length > 0);
  return full.toSorted((a, b) => wakeAt(b) - wakeAt(a))[0];
}

const positionOf = (item: Item): Position => ({ id: idOfRecord(item), wakeAt: Number(item.wakeAt) });

/** A place in the index of a status. */
type Position = z.output<typeof position>;
const position = z.object({ id: z.string(), wakeAt: z.number().check(z.gte(0), z.lte(Number.MAX_SAFE_INTEGER)) });

/** Where each status goes on: after that job, or from the start. */
const cursorShape = z.array(z.object({ status: z.enum(jobStatuses), after: z.optional(position) }));

function writeCursor(streams: readonly Stream[]): string {
  const cursor = streams.map(({ status, after }) => ({ status, after }));
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(text: string): Stream[] {
  try {
    const cursor = cursorShape.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return cursor.map((one) => ({ ...one, page: [], isWhole: false }));
  } catch (cause) {
    throw new CursorError('the cursor is not one of a list of jobs; start the list again', { cause });
  }
}
