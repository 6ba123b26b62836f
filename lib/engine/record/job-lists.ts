import type { Lane } from '../../service/budget/lanes.ts';
import { jobsByStatus, waitingLine } from '../../state/table/keys.ts';
import type { Item, Table } from '../../state/table/table.ts';
import type { Job, JobStatus } from './job.ts';
import { readableJobs, type StandingJob, standingJobOfItem } from './job-item.ts';
import type { UnreadableJobs } from './unreadable-jobs.ts';

/**
 * No job waits longer: a Retry-After and the wait for a worker are both limited to a day. A process with a wrong clock,
 * or a person, wrote any later time.
 */
const LONGEST_WAIT_MS = 25 * 3_600_000;
/** The number of jobs that the sweep reads at a time. */
const DUE_PAGE = 500;

/** Returns the name of a waiting line: that of a connection and lane, or of one operation there. */
export const lineOf = (connection: string, lane: Lane, operation?: string) =>
  [connection, lane, operation].filter((part) => part !== undefined).join('#');

/** Returns the operation that a line is for; undefined if its jobs wait for the budget or the whole connection. */
export const operationOfLine = (line: string): string | undefined => line.split('#')[2];

/** Lists jobs from an index of the table, which may lag behind. Unreadable records are left out. */
export function createJobLists(table: Table, clock: () => number, { readerOf, readJobs }: UnreadableJobs) {
  return {
    /** The first jobs of a waiting line. */
    async line(connection: string, lane: Lane, limit: number, operation?: string): Promise<StandingJob[]> {
      const condition = { expression: '#line = :line', values: { line: lineOf(connection, lane, operation) } };
      const { read, setAside } = readerOf(standingJobOfItem);
      const standing = await firstOf(table.indexPages(waitingLine.name, condition, limit), limit, read);
      await setAside();
      return standing;
    },
    /**
     * Yields the jobs of one status page by page: first those with a time too far ahead for any job to wait for it,
     * then those that are due by `by`, earliest first. Parks an unreadable record, so that it causes one failure only.
     */
    async *due(status: JobStatus, by: number): AsyncIterable<Job[]> {
      const ahead = clock() + LONGEST_WAIT_MS;
      for (const condition of [
        // First, because these are few, and a reader may stop before the end of the others.
        { expression: '#status = :status AND #wakeAt > :ahead', values: { status, ahead } },
        { expression: '#status = :status AND #wakeAt <= :by', values: { status, by } },
      ]) {
        for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE)) yield await readJobs(items);
      }
    },
    /** Returns jobs of one status: those due by `by`, or without `by` the newest. */
    async list(
      status: JobStatus,
      { by, limit, newestFirst = false }: { by?: number; limit: number; newestFirst?: boolean },
    ): Promise<Job[]> {
      const values: Item = { status };
      if (by !== undefined) values.by = by;
      const expression = by === undefined ? '#status = :status' : '#status = :status AND #wakeAt <= :by';
      const pages = table.indexPages(jobsByStatus.name, { expression, values }, limit, newestFirst);
      return firstOf(pages, limit, (items) => readableJobs(items, clock()));
    },
    /** Yields the jobs that were parked from `from` to `to`, inclusive, oldest first, page by page. */
    async *parkedBetween(from: number, to: number): AsyncIterable<Job[]> {
      // `wakeAt` of a parked job is the time when it was parked.
      const condition = {
        expression: '#status = :parked AND #wakeAt BETWEEN :from AND :to',
        values: { parked: 'parked', from, to },
      };
      for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE))
        yield readableJobs(items, clock());
    },
  };
}

/** Returns the first `limit` entries that can be read in some pages. */
async function firstOf<T>(pages: AsyncIterable<Item[]>, limit: number, read: (items: Item[]) => T[]): Promise<T[]> {
  const found: T[] = [];
  for await (const items of pages) {
    found.push(...read(items));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}
