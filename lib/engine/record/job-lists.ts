import type { Lane } from '../../service/budget/lanes.ts';
import { jobsByStatus, waitingLine } from '../../state/table/keys.ts';
import type { Item, Table } from '../../state/table/table.ts';
import type { Job, JobStatus } from './job.ts';
import { readableJobs, type StandingJob, standingJobOfItem } from './job-item.ts';
import type { UnreadableJobs } from './unreadable-jobs.ts';

/**
 * No job waits longer: a Retry-After counts as a day at most, and so does the wait for a worker. A later time was written
 * by a process with a wrong clock, or by hand.
 */
const LONGEST_WAIT_MS = 25 * 3_600_000;
/** The number of jobs that the sweep reads at a time. */
const DUE_PAGE = 500;

/** The name of a waiting line: of the connection and the lane, or of an operation there. */
export const lineOf = (connection: string, lane: Lane, operation?: string) =>
  [connection, lane, operation].filter((part) => part !== undefined).join('#');

/** The operation that a job stands in line for; undefined if it waits for the budget or the whole connection. */
export const operationOfLine = (line: string): string | undefined => line.split('#')[2];

/** The jobs of an index of the table, which may lag behind. Lists leave out the records that cannot be read. */
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
     * All jobs of one status with a time so far ahead that no job can wait for it, and then those that are due by `by`,
     * earliest first, page by page. A record that cannot be read is parked, so that it is in the way once only.
     */
    async *due(status: JobStatus, by: number): AsyncIterable<Job[]> {
      const ahead = clock() + LONGEST_WAIT_MS;
      for (const condition of [
        // First, because they are few, and a reader may have enough before the end of the others.
        { expression: '#status = :status AND #wakeAt > :ahead', values: { status, ahead } },
        { expression: '#status = :status AND #wakeAt <= :by', values: { status, by } },
      ]) {
        for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE)) yield await readJobs(items);
      }
    },
    /** Jobs of one status that are due by `by`, or the newest ones without `by`. */
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
    /** The jobs that were parked in that time, inclusive, oldest first, page by page. */
    async *parkedBetween(from: number, to: number): AsyncIterable<Job[]> {
      // A parked job was parked at its `wakeAt`.
      const condition = {
        expression: '#status = :parked AND #wakeAt BETWEEN :from AND :to',
        values: { parked: 'parked', from, to },
      };
      for await (const items of table.indexPages(jobsByStatus.name, condition, DUE_PAGE))
        yield readableJobs(items, clock());
    },
  };
}

/** The first `limit` of what can be read in some pages. */
async function firstOf<T>(pages: AsyncIterable<Item[]>, limit: number, read: (items: Item[]) => T[]): Promise<T[]> {
  const found: T[] = [];
  for await (const items of pages) {
    found.push(...read(items));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}
