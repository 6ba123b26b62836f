import type { Context, PlanContext } from '../automations/context.ts';
import { fateOfClaim } from '../automations/issue-to-defect/claim-fate.ts';
import { isDefect, reportedState } from '../automations/issue-to-defect/defect-text.ts';
import type { IssueRepository } from '../automations/issue-to-defect/issue-decisions.ts';
import { issueEntity, issueJobs } from '../automations/issue-to-defect/jobs.ts';
import type { RelayConfig } from '../config/schema.ts';
import { findRepository } from '../config/settings.ts';
import { inBatches } from '../engine/line/queue.ts';
import type { WaitingLines } from '../engine/line/waiting-line.ts';
import { NeedsOperator, RetryAt } from '../engine/record/interruption.ts';
import { isOver, type JobDraft, jobId } from '../engine/record/job.ts';
import { asInterruption } from '../engine/run/as-interruption.ts';
import { keep, type ReportedState } from '../links/link-life.ts';
import type { GithubIssue } from '../platforms/github/payload.ts';
import type { Limits } from '../service/budget/window.ts';
import { createDefect, updateDefect } from '../service/partner/operations/defects.ts';
import { cutToBytes } from '../text.ts';
import { fetchIssuePage, type IssueCursor, type IssuePage } from './issue-pages.ts';
import { type IssuePlan, type PlannedCalls, planIssue, summarizePlans } from './issue-plan.ts';

export interface IssueFilter {
  state: 'open' | 'all';
  /** Only issues with one of these labels. Without it, every issue with a label that makes it a defect. */
  labels?: string[];
  /** Only issues changed at this time or later; ISO 8601 in UTC, without milliseconds. */
  since?: string;
}

/** An issue that a backfill includes, and what its job would do. */
export interface PlannedIssue {
  number: number;
  title: string;
  entity: string;
  reported: ReportedState;
  plan: IssuePlan;
}

/** The reasons why a backfill leaves out an issue. */
type LeftAside = 'pull request' | 'without a label' | 'changed before' | 'unreadable';

export interface BackfillPlan extends PlannedCalls {
  issues: PlannedIssue[];
  /** How many issues were read and left out, by reason. */
  leftAside: Record<LeftAside, number>;
  /** How many requests reading the issues took. */
  pages: number;
}

/** @throws {NeedsOperator} if the repository's issues do not become defects in relay.config.ts */
export function repositoryToBackfill(config: RelayConfig, fullName: string): IssueRepository {
  const found = findRepository(config, fullName);
  if (found?.issueToDefect) return { name: found.name, connection: found.connection, settings: found.issueToDefect };
  const names = config.github.repositories.filter(({ issueToDefect }) => issueToDefect).map(({ name }) => name);
  const configured = names.length > 0 ? `it is set for ${names.join(', ')}` : 'it is set for no repository';
  throw new NeedsOperator(
    `relay.config.ts turns no issues of ${fullName} into defects; ${configured}. Add issueToDefect to the repository under github.repositories`,
  );
}

/**
 * Reads a repository's issues and predicts what a backfill would do with each. Writes nothing.
 *
 * @param read receives, after each page, how many issues and pull requests were read
 * @throws {Interruption} if GitHub does not show the issues
 */
export async function planBackfill(
  repository: IssueRepository,
  filter: IssueFilter,
  context: PlanContext & Pick<Context, 'github' | 'clock'>,
  read: (issues: number) => void = () => {},
): Promise<BackfillPlan> {
  const issues = new Map<number, PlannedIssue>();
  const aside = new Map<number, LeftAside>();
  let pullRequests = 0;
  let pages = 0;
  for await (const page of pagesOf(repository, filter, context)) {
    for (const [number, why] of page.aside) aside.set(number, why);
    for (const planned of page.taken) issues.set(planned.number, planned);
    pages++;
    pullRequests += page.pullRequests;
    read(issues.size + aside.size + pullRequests);
  }
  const all = [...issues.values()].sort((a, b) => a.number - b.number);
  const count = (wanted: LeftAside) => [...aside.values()].filter((why) => why === wanted).length;
  return {
    issues: all,
    ...summarizePlans(all.map(({ plan }) => plan)),
    leftAside: {
      'pull request': pullRequests,
      'without a label': count('without a label'),
      'changed before': count('changed before'),
      unreadable: count('unreadable'),
    },
    pages,
  };
}

/** The results for the issues that were read. Each issue counts once. */
export interface StoredJobs {
  /** Jobs stored by this run of the command. */
  stored: number;
  /** Earlier jobs that have not ended. */
  underWay: number;
  parked: number;
  /** Issues that need no call. */
  unchanged: number;
}

export interface StoreOptions {
  /** True if the jobs comment on their issues, where relay.config.ts allows it. */
  comment: boolean;
  limits: Limits;
  lines: Pick<WaitingLines, 'moveOn'>;
  sleep: (ms: number) => Promise<unknown>;
  /** Called after each page, and while the line is full. */
  onProgress?: (found: StoredJobs) => unknown;
}

/**
 * The work that the line may hold, in minutes: enough to outlast a pause of the command, and soon done after it is
 * stopped.
 */
const MINUTES_IN_LINE = 3;
const LOOKS_EVERY_MS = 10_000;
/** The lines of the issues' jobs: for the budget, and for a failing operation. */
const LINES = [undefined, createDefect.name, updateDefect.name];

/**
 * Stores one job for each issue that needs one, in the waiting line of the lane `backfill`. Reads GitHub page by page,
 * and continues while the line has room. It can be stopped at any time and run again: the ids stay the same, so a job
 * that has not ended is not stored a second time.
 *
 * @throws {Interruption} if GitHub does not show the issues
 */
export async function storeBackfill(
  repository: IssueRepository,
  filter: IssueFilter,
  context: PlanContext & Pick<Context, 'github' | 'clock'>,
  { comment, limits, lines, sleep, onProgress = () => {} }: StoreOptions,
): Promise<StoredJobs> {
  const { links, jobs, clock } = context;
  const results = new Map<string, keyof StoredJobs>();
  let room = 0;
  for await (const { taken } of pagesOf(repository, filter, context, (until) => sleep(until - clock()))) {
    for (const planned of taken) {
      if (room <= 0) room = await roomInLine();
      const what = await store(planned);
      if (what === 'stored') room--;
      // An issue that changes meanwhile is listed again.
      if (results.get(planned.entity) !== 'stored') results.set(planned.entity, what);
    }
    onProgress(found());
  }
  return found();

  function found(): StoredJobs {
    const counts = { stored: 0, underWay: 0, parked: 0, unchanged: 0 };
    for (const what of results.values()) counts[what]++;
    return counts;
  }

  async function roomInLine(): Promise<number> {
    for (const most = MINUTES_IN_LINE * limits.perMinute; ; ) {
      const inLines = LINES.map((operation) => jobs.line(repository.connection, 'backfill', most, operation));
      const standing = (await Promise.all(inLines)).flat();
      if (standing.length < most) return most - standing.length;
      onProgress(found());
      await sleep(LOOKS_EVERY_MS);
    }
  }

  async function store(planned: PlannedIssue): Promise<keyof StoredJobs> {
    const { entity, reported, plan } = planned;
    if (plan.does === 'nothing') return 'unchanged';
    await links.change(entity, (link) => keep(link, reported));
    for (let draft = draftOf(planned, repository, comment); ; ) {
      const { job, stored } = await jobs.store(draft, 'a backfill uses only calls that no other job needs');
      if (stored) {
        await lines.moveOn({ name: repository.connection, limits }, { joined: { job } });
        return 'stored';
      }
      if (!isOver(job) && !job.discarded) return job.status === 'parked' ? 'parked' : 'underWay';
      // The job has ended, or is about to. If it ended while the line was full, nothing may be left to do. Otherwise,
      // the settings have changed, or an operator discarded the job.
      if ((await planReported(entity, reported, repository, context)).does === 'nothing') return 'unchanged';
      draft = { ...draft, id: jobId(draft.automation, draft.id, job.createdAt) };
    }
  }
}

interface PageOfIssues {
  taken: PlannedIssue[];
  /** Reasons by issue number. */
  aside: (readonly [number, LeftAside])[];
  pullRequests: number;
}

/** @param waitUntil waits until GitHub accepts requests again; without it, throws {@link RetryAt} */
async function* pagesOf(
  repository: IssueRepository,
  filter: IssueFilter,
  context: PlanContext & Pick<Context, 'github' | 'clock'>,
  waitUntil?: (dueAt: number) => Promise<unknown>,
): AsyncIterable<PageOfIssues> {
  let cursor: IssueCursor | undefined = filter.since === undefined ? undefined : { from: filter.since, page: 1 };
  do {
    const { issues, unreadable, pullRequests, next } = await readPage(cursor);
    const why = new Map(issues.map((issue) => [issue, leftAside(issue, repository, filter)]));
    const taken = await inBatches(
      issues.filter((issue) => !why.get(issue)),
      (issue) => planListed(issue, repository, context),
    );
    const aside = [...why].flatMap(([{ number }, why]) => (why ? [[number, why] as const] : []));
    yield { taken, aside: [...aside, ...unreadable.map((number) => [number, 'unreadable'] as const)], pullRequests };
    cursor = next;
  } while (cursor);

  async function readPage(cursor: IssueCursor | undefined): Promise<IssuePage> {
    for (;;) {
      try {
        return await fetchIssuePage(context.github, repository.name, filter.state, cursor);
      } catch (thrown) {
        const error = asInterruption(thrown, context.clock());
        if (!(error instanceof RetryAt) || !waitUntil) throw error;
        await waitUntil(error.dueAt);
      }
    }
  }
}

/** Returns why a backfill leaves out an issue; undefined if it includes it. */
function leftAside(issue: GithubIssue, { settings }: IssueRepository, filter: IssueFilter): LeftAside | undefined {
  const labels = (issue.labels ?? []).map(({ name }) => name);
  // The list may begin a second earlier, and lists an issue again if it was changed meanwhile.
  if (filter.since !== undefined && Date.parse(issue.updated_at) < Date.parse(filter.since)) return 'changed before';
  const named = filter.labels && { ...settings, labels: filter.labels };
  return isDefect(labels, settings) && (!named || isDefect(labels, named)) ? undefined : 'without a label';
}

/** Predicts an issue's job, assuming that GitHub's state is the newest. */
async function planListed(
  issue: GithubIssue,
  repository: IssueRepository,
  context: PlanContext,
): Promise<PlannedIssue> {
  const entity = issueEntity(issue.id);
  const reported = reportedState(issue, repository.name, repository.settings);
  const plan = await planReported(entity, reported, repository, context);
  return { number: issue.number, title: issue.title, entity, reported, plan };
}

async function planReported(
  entity: string,
  reported: ReportedState,
  repository: IssueRepository,
  context: PlanContext,
): Promise<IssuePlan> {
  const link = await context.links.look(entity);
  const job = { connection: repository.connection, entity: reported.name, lane: 'backfill' } as const;
  return planIssue(keep(link, reported) ?? link, { job, repository }, (jobId) => fateOfClaim(jobId, context));
}

function draftOf(
  { number, entity, reported }: PlannedIssue,
  { name: repository, connection }: IssueRepository,
  comment: boolean,
): JobDraft {
  return issueJobs.draft({
    happened: [entity, 'backfill'],
    connection,
    lane: 'backfill',
    entity: reported.name,
    summary: `${reported.name} from a backfill: ${cutToBytes(reported.state.title, 200, '…')}`,
    input: { repository, issueNumber: number, entity, ...(!comment && { comment }) },
  });
}
