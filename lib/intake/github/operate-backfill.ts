import {
  type Backfill,
  type BackfilledIssue,
  type Backfills,
  countFates,
  type IssueFilter,
} from '../../automations/backfill/backfills.ts';
import { PAUSED, pageDraft } from '../../automations/backfill/draft.ts';
import type { IssueRepository } from '../../automations/issue-to-defect/issue-decisions.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import { inBatches } from '../../engine/line/batches.ts';
import type { JobQueue } from '../../engine/line/queue.ts';
import { requeueJob } from '../../engine/line/sweep.ts';
import type { Job } from '../../engine/record/job.ts';
import type { JobStore } from '../../engine/record/job-store.ts';

export interface BackfillStores {
  backfills: Backfills;
  jobs: JobStore;
  queue: JobQueue;
}

/** What a person wants a backfill to do. */
export interface WantedBackfill {
  repository: IssueRepository;
  filter: IssueFilter;
  comment: boolean;
  /** How many issues the plan takes. */
  expected: number;
}

/**
 * Begins a backfill, or finds the one that is under way. From then on the deployed functions work on it.
 *
 * @param now epoch milliseconds
 * @returns the backfill, and whether this call began it
 * @throws {Error} while a backfill of the repository with another filter is under way
 */
export async function beginBackfill(
  { repository, filter, comment, expected }: WantedBackfill,
  { backfills, jobs, queue }: BackfillStores,
  now: number,
): Promise<{ backfill: Backfill; began: boolean }> {
  const { name, connection } = repository;
  const first = pageDraft({ repository: name, connection, startedAt: now }, { page: 1, isRead: false });
  const wanted: Backfill = {
    repository: name,
    connection,
    startedAt: now,
    filter,
    comment,
    expected,
    status: 'running',
    jobId: first.id,
    isRead: false,
    counts: { open: 0, done: 0, left: 0, parked: 0 },
    countedAt: now,
  };
  const began = await backfills.begin(wanted);
  const backfill = began ? wanted : ((await backfills.get(name)) ?? wanted);
  if (!began && !isSame(backfill, wanted)) {
    throw new Error(
      `a backfill of ${name} with other options is under way since ${new Date(backfill.startedAt).toISOString()}; wait for its end, or stop it with --stop`,
    );
  }
  // A process that ended between the two writes left a backfill without a job.
  if (began || !(await jobs.get(backfill.jobId))) {
    await acceptEvent(pageDraft(backfill, { page: 1, isRead: false }), { jobs, queue });
  }
  return { backfill, began };
}

const isSame = (one: Backfill, other: Backfill) =>
  one.comment === other.comment &&
  one.filter.state === other.filter.state &&
  one.filter.since === other.filter.since &&
  String(one.filter.labels) === String(other.filter.labels);

/**
 * Pauses, resumes or stops a backfill. A call that was begun is settled in any case.
 *
 * @throws {Error} if no backfill of the repository is under way
 */
export async function setBackfill(
  repository: string,
  status: 'running' | 'paused' | 'stopped',
  { backfills, jobs, queue }: BackfillStores,
): Promise<Backfill> {
  const found = await backfills.get(repository);
  const changed = found && (await backfills.change(found, { status }));
  if (!changed) throw new Error(`no backfill of ${repository} is under way`);
  if (status === 'paused') return changed;
  const ids = (await backfills.issues(changed)).flatMap(({ fate, jobId }) => (fate === 'open' && jobId ? [jobId] : []));
  await inBatches([changed.jobId, ...ids], async (id) => {
    const job = await jobs.get(id);
    if (job && isPaused(job)) await requeueJob(job, { jobs, queue });
  });
  return changed;
}

const isPaused = (job: Job) => job.status === 'waiting' && job.waitingFor === PAUSED;

/** A backfill as people see it. */
export interface BackfillView extends Backfill {
  /** The job that reads the next page, or waits for the end; undefined if its record is gone. */
  job: Job | undefined;
  /** The issues that are not done, and why. Those that are open wait for their turn. */
  notDone: (BackfilledIssue & { why: string })[];
}

/** What is known of a backfill now, counted from its issues. */
export async function viewBackfill(
  backfill: Backfill,
  { backfills, jobs }: Pick<BackfillStores, 'backfills' | 'jobs'>,
): Promise<BackfillView> {
  const [issues, job] = await Promise.all([backfills.issues(backfill), jobs.get(backfill.jobId)]);
  const ended = issues.filter(({ fate }) => fate === 'left' || fate === 'parked');
  const notDone = await inBatches(ended, async (issue) => ({ ...issue, why: issue.why ?? (await whyOf(issue, jobs)) }));
  return {
    ...backfill,
    counts: countFates(issues),
    job,
    notDone,
  };
}

async function whyOf({ jobId }: BackfilledIssue, jobs: JobStore): Promise<string> {
  const job = jobId === undefined ? undefined : await jobs.get(jobId);
  return job?.parked?.reason ?? job?.outcome ?? 'its job is gone';
}
