import * as z from 'zod/mini';
import type { Lane } from '../../service/budget/lanes.ts';
import { jobsByStatus, keys } from '../../state/table/keys.ts';
import type { Item, Table } from '../../state/table/table.ts';
import { type Job, type JobStatus, jobStatuses, waitOf } from '../record/job.ts';
import { idOfRecord, readableJobs } from '../record/job-item.ts';

/** Selects jobs. A job must match every given field. Text matches in upper or lower case. */
export interface JobFilter {
  statuses?: readonly JobStatus[] | undefined;
  automation?: string | undefined;
  connection?: string | undefined;
  lane?: Lane | undefined;
  /** `owner/name` or `owner/name#42`. */
  place?: string | undefined;
  /** A GitHub login, with or without `@`, a Slack user id, or the person's name as people see it. */
  person?: string | undefined;
  /** The whole id of the cause: GitHub's `X-GitHub-Delivery`, Slack's `trigger_id`. */
  delivery?: string | undefined;
  /** A part of the id, the summary, the outcome, or the reason for which the job waits or is parked. */
  text?: string | undefined;
  /** Created at or after that time; epoch milliseconds. */
  since?: number | undefined;
}

/** The cursor does not come from a list of jobs. */
export class CursorError extends Error {
  override readonly name = 'CursorError';
}

export interface FindJobsOptions {
  filter: JobFilter;
  /** The cursor of the last answer. Without it, the search begins at the start. */
  cursor?: string | undefined;
  limit: number;
  /** The maximum number of index pages to read, over all statuses; at least one for each status. */
  maxPages: number;
  /** Epoch milliseconds. */
  now: number;
  /** Returns the job as people see it, because they search for the names that they see. */
  shown?: ShowJob;
}

/** Replaces the ids in a job with names. */
export type ShowJob = (job: Job) => Promise<Job>;

/** One part of the matching jobs. */
export interface FoundJobs {
  /**
   * Sorted by `wakeAt`, latest first: waiting and running jobs, then parked and ended jobs by when they were parked or
   * ended. A list of waiting jobs alone has the soonest first.
   */
  jobs: Job[];
  /** Where the list continues. Missing at the end. It may be set although no more jobs match. */
  cursor?: string;
  /** The number of `jobs` with each status. */
  counts: Record<JobStatus, number>;
  /** How many jobs were compared with the filter. */
  read: number;
}

const PAGE_SIZE = 100;

/**
 * Finds jobs in the index of jobs by status, page by page. Never scans the table. The index may lag slightly behind the
 * table.
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
      // A page may be empty although the index continues after it.
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

/** How many of the newest pages of each status are searched for new jobs. */
const NEWEST_PAGES = 2;

/**
 * Finds the jobs that a delivery, a command or a form has just made. A backlog in one status does not hide the others.
 */
export async function findNewJobs(table: Table, delivery: string, now: number): Promise<Job[]> {
  const found = await Promise.all(
    jobStatuses.map((status) =>
      findJobs(table, { filter: { delivery, statuses: [status] }, limit: 10, maxPages: NEWEST_PAGES, now }),
    ),
  );
  return found.flatMap(({ jobs }) => jobs);
}

/** True if the job matches every given field of the filter. */
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

/** The jobs of one status, latest first. */
interface Stream {
  status: JobStatus;
  /** The last job that was taken from the page. */
  after?: Position | undefined;
  /** The jobs that were read but not taken. */
  page: Item[];
  /** True if the index has nothing after `page`. */
  isWhole: boolean;
}

function streamsOf(statuses: readonly JobStatus[]): Stream[] {
  return statuses.map((status) => ({ status, page: [], isWhole: false }));
}

async function readPage(stream: Stream, { since, statuses, delivery }: JobFilter, table: Table): Promise<void> {
  const { status, after } = stream;
  // A delivery's new jobs are among the last to continue.
  const soonestFirst = statuses?.join() === 'waiting' && delivery === undefined;
  // No job is due or ends before it is created.
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

/** The position after which each status continues. Without one, it begins at the start. */
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
