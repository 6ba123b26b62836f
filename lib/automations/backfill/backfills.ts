import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import { setFields } from '../../state/table/set-fields.ts';
import type { Item, Table } from '../../state/table/table.ts';

/** Which issues of a repository a backfill takes. */
export interface IssueFilter {
  state: 'open' | 'all';
  /** Only issues with one of these labels; without it, every issue with a label that makes it a defect. */
  labels?: string[];
  /** Only issues that were changed at that time or later; ISO 8601 in UTC, without milliseconds. */
  since?: string;
}

/**
 * - `running`: it reads pages and drafts jobs, or waits for its jobs
 * - `paused`: it does neither, and its jobs wait
 * - `stopped`: a person ended it; jobs that had not begun end without a call
 * - `finished`: every issue has ended, and `counts` says how
 */
type BackfillStatus = 'running' | 'paused' | 'stopped' | 'finished';

/**
 * - `open`: its job has not ended
 * - `done`: it has a defect that looks like it
 * - `left`: it has none, or an older one, and `why` says why
 * - `parked`: its job needs a person
 */
export type IssueFate = 'open' | 'done' | 'left' | 'parked';

export type IssueCounts = Record<IssueFate, number>;

/** The last backfill of a repository. Times are epoch milliseconds. */
export interface Backfill {
  /** owner/name, as configured. */
  repository: string;
  connection: string;
  /** Tells it from other backfills of the repository. */
  startedAt: number;
  filter: IssueFilter;
  /** Whether it comments on issues with the ids of their defects. */
  comment: boolean;
  status: BackfillStatus;
  /** The job that reads the next page, or waits for the end. */
  jobId: string;
  /** How many issues it takes, as it was planned. */
  expected: number;
  /** Whether the last page was read, so that `counts` has every issue. */
  isRead: boolean;
  /** The issues that it took, by result, at `countedAt`. */
  counts: IssueCounts;
  countedAt: number;
  finishedAt?: number;
}

/** Tells a backfill from others. */
export type BackfillRef = Pick<Backfill, 'repository' | 'startedAt'>;

/** An issue that a backfill took. */
export interface BackfilledIssue {
  number: number;
  fate: IssueFate;
  /** Its job; without one, there was nothing to do. */
  jobId?: string;
  why?: string;
}

/** The backfills, one for each repository, and their issues. */
export interface Backfills {
  get(repository: string): Promise<Backfill | undefined>;
  list(): Promise<Backfill[]>;
  /** @returns false while another backfill of the repository has not ended */
  begin(backfill: Backfill): Promise<boolean>;
  /** Changes fields of a backfill. @returns the backfill, or undefined if another one took its place or it has ended */
  change(backfill: BackfillRef, fields: BackfillChanges): Promise<Backfill | undefined>;
  /** Notes an issue that the backfill takes, unless it is noted. */
  take(backfill: BackfillRef, issue: BackfilledIssue): Promise<void>;
  /** Notes the result of an issue. */
  note(backfill: BackfillRef, issue: BackfilledIssue): Promise<void>;
  /** Every issue that was taken, by its number. */
  issues(backfill: BackfillRef): Promise<BackfilledIssue[]>;
}

type BackfillChanges = Partial<Pick<Backfill, 'status' | 'jobId' | 'isRead' | 'counts' | 'countedAt' | 'finishedAt'>>;

/** With a small daily limit, a backfill takes months. The results of its issues are counted at its end. */
const KEPT_MS = 365 * 86_400_000;

export const hasEnded = ({ status }: Backfill): boolean => status === 'stopped' || status === 'finished';

export function countFates(issues: readonly BackfilledIssue[]): IssueCounts {
  const counts: IssueCounts = { open: 0, done: 0, left: 0, parked: 0 };
  for (const { fate } of issues) counts[fate]++;
  return counts;
}

export function createBackfills(table: Table, clock: () => number): Backfills {
  const issueKey = ({ repository, startedAt }: BackfillRef, number: number | string) =>
    // GitHub counts issues with far fewer digits, so that the text sorts like the number.
    keys.backfilledIssue(repository, String(startedAt), String(number).padStart(12, '0'));

  return {
    async get(repository) {
      const item = await table.get(keys.backfill(repository));
      return item && asBackfill(item);
    },
    async list() {
      return (await table.partition(keys.backfill('').pk)).map(asBackfill);
    },
    begin: (backfill) =>
      table.put(
        { ...keys.backfill(backfill.repository), ...backfill },
        {
          expression: 'attribute_not_exists(#pk) OR #status = :stopped OR #status = :finished',
          values: { stopped: 'stopped', finished: 'finished' },
        },
      ),
    async change({ repository, startedAt }, fields) {
      const changed = await table.update(keys.backfill(repository), setFields(fields), {
        expression: '#startedAt = :began AND #status <> :isStopped AND #status <> :isFinished',
        values: { began: startedAt, isStopped: 'stopped', isFinished: 'finished' },
      });
      return changed && asBackfill(changed);
    },
    async take(backfill, issue) {
      await table.put(
        { ...issueKey(backfill, issue.number), ...kept(issue) },
        { expression: 'attribute_not_exists(#pk)' },
      );
    },
    async note(backfill, issue) {
      await table.put({ ...issueKey(backfill, issue.number), ...kept(issue) });
    },
    async issues(backfill) {
      const items = await table.partition(issueKey(backfill, '').pk);
      return items.map(({ pk, sk, expiresAt, ...issue }) => issue as Item & BackfilledIssue);
    },
  };

  function kept(issue: BackfilledIssue): Item {
    const ended = issue.fate === 'done' || issue.fate === 'left';
    return { ...issue, ...(ended && { expiresAt: expiry(clock(), KEPT_MS) }) };
  }
}

function asBackfill({ pk, sk, ...backfill }: Item): Backfill {
  return backfill as Item & Backfill;
}
