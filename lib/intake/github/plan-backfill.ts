import { type LeftAside, leftAside, type PlannedIssue, planListed } from '../../automations/backfill/backfill-issue.ts';
import type { IssueFilter } from '../../automations/backfill/backfills.ts';
import type { Context, PlanContext } from '../../automations/context.ts';
import type { IssueRepository } from '../../automations/issue-to-defect/issue-decisions.ts';
import { type PlannedCalls, summarizePlans } from '../../automations/issue-to-defect/issue-plan.ts';
import { inBatches } from '../../engine/line/batches.ts';
import { fetchIssuePage, type IssueCursor } from '../../platforms/github/issue-pages.ts';

/** What a backfill would do now. */
export interface BackfillPlan extends PlannedCalls {
  issues: PlannedIssue[];
  /** How many were read and not taken, by reason. */
  leftAside: Record<LeftAside, number>;
  /** The requests that reading them took. */
  pages: number;
}

/**
 * Reads the issues of a repository and foresees what a backfill would do with each. It writes nothing.
 *
 * @param read is told after each page how many issues and pull requests were read
 * @throws {Interruption} if GitHub does not show the issues
 */
export async function planBackfill(
  repository: IssueRepository,
  filter: IssueFilter,
  context: PlanContext & Pick<Context, 'github'>,
  read: (issues: number) => void = () => {},
): Promise<BackfillPlan> {
  const issues = new Map<number, PlannedIssue>();
  const aside = new Map<number, LeftAside>();
  let pullRequests = 0;
  const unreadable = new Set<number>();
  let pages = 0;
  let cursor: IssueCursor | undefined = filter.since === undefined ? undefined : { from: filter.since, page: 1 };
  do {
    const page = await fetchIssuePage(context.github, repository.name, filter.state, cursor);
    for (const issue of page.issues) {
      const why = leftAside(issue, repository, filter);
      if (why) aside.set(issue.id, why);
    }
    const taken = page.issues.filter((issue) => !leftAside(issue, repository, filter));
    for (const planned of await inBatches(taken, (issue) => planListed(issue, repository, context))) {
      issues.set(planned.number, planned);
    }
    pages++;
    for (const number of page.unreadable) unreadable.add(number);
    pullRequests += page.pullRequests;
    cursor = page.next;
    read(issues.size + aside.size + pullRequests);
  } while (cursor);
  const all = [...issues.values()].sort((a, b) => a.number - b.number);
  const count = (wanted: LeftAside) => [...aside.values()].filter((why) => why === wanted).length;
  return {
    issues: all,
    ...summarizePlans(all.map(({ plan }) => plan)),
    leftAside: {
      'pull request': pullRequests,
      'without a label': count('without a label'),
      'changed before': count('changed before'),
      unreadable: unreadable.size,
    },
    pages,
  };
}
