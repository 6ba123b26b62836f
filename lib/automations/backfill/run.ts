import { acceptEvent } from '../../engine/line/accept-event.ts';
import { inBatches } from '../../engine/line/batches.ts';
import { NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import { keep } from '../../links/link-life.ts';
import type { GithubIssue } from '../../platforms/github/issue.ts';
import { fetchIssuePage, type IssuePage } from '../../platforms/github/issue-pages.ts';
import { counted } from '../../text.ts';
import type { Context } from '../context.ts';
import { draftOf, leftAside, planListed, repositoryToBackfill } from './backfill-issue.ts';
import { type Backfill, countFates, hasEnded, type IssueCounts } from './backfills.ts';
import { type BackfillInput, backfillJobs, PAUSED, PAUSED_LOOKS_EVERY_MS, pageDraft } from './draft.ts';

/** How often it is checked whether jobs have ended. */
const LOOKS_EVERY_MS = 60_000;

/**
 * The number of jobs of a backfill that wait in line at most, as a part of the limit of a minute: enough for two
 * checks, and few enough that a stopped backfill, or a waiting line, is read quickly.
 */
const MINUTES_IN_LINE = 3;

/**
 * Turns the issues of a repository that were there before the relay into jobs, page by page. Each page is a job of its
 * own, so that it is retried on its own; it drafts the job of the next page. Jobs of issues go directly into the
 * waiting line of the lane `backfill`.
 */
export function backfill(context: Context): Automation {
  const { config, backfills, github, links, jobs, queue, clock } = context;

  return defineAutomation(backfillJobs, async (input, job, steps) => {
    const { repository: name, startedAt } = input;
    const found = await backfills.get(name);
    if (found?.startedAt !== startedAt || hasEnded(found)) return 'nothing to do: the backfill has ended';
    if (found.status === 'paused')
      throw new RetryAt(clock() + PAUSED_LOOKS_EVERY_MS, PAUSED, { releasesQueueGroup: true, waitsFor: 'operator' });
    const counts = await count(found);
    if (input.isRead) return finish(found, counts);

    const most = MINUTES_IN_LINE * (config.connections[found.connection]?.limits.perMinute ?? 0);
    if (counts.open > most) throw new RetryAt(clock() + LOOKS_EVERY_MS, `${counts.open} of its issues wait already`);
    const page = await steps.read(`page ${input.page}`, 'GitHub issues', () => takePage(found, input, job.id));
    const next = { page: input.page + 1, isRead: page.next === undefined, ...(page.next && { cursor: page.next }) };
    const draft = { ...pageDraft(found, next), cause: { from: 'job', id: job.id } } as const;
    await acceptEvent(draft, { jobs, queue });
    await backfills.change(found, { jobId: draft.id, isRead: next.isRead });
    return `page ${input.page}: ${counted(page.issues, 'issue')} and ${counted(page.pullRequests, 'pull request')}; ${counted(page.taken, 'issue')} taken, ${page.drafted} with something to do`;
  });

  async function count(found: Backfill) {
    const counts = countFates(await backfills.issues(found));
    await backfills.change(found, { counts, countedAt: clock() });
    return counts;
  }

  /** Drafts the jobs of a page. A repeat after a crash makes the same jobs again. */
  async function takePage(found: Backfill, { cursor }: BackfillInput, pageJob: string) {
    const repository = repositoryToBackfill(config, found.repository);
    if (repository.connection !== found.connection) {
      throw new NeedsOperator(
        `${repository.name} is on the connection ${repository.connection} now, and its backfill on ${found.connection}; stop the backfill and start it again`,
      );
    }
    const { since, state } = found.filter;
    const start = cursor ?? (since === undefined ? undefined : { from: since, page: 1 });
    const page: IssuePage = await fetchIssuePage(github, repository.name, state, start);
    const taken = page.issues.filter((issue) => !leftAside(issue, repository, found.filter));
    const drafted = await inBatches(taken, (issue) => take(issue));
    for (const number of page.unreadable) {
      await backfills.take(found, { number, fate: 'left', why: 'what GitHub says about it cannot be read' });
    }
    return {
      issues: page.issues.length,
      pullRequests: page.pullRequests,
      taken: taken.length,
      drafted: drafted.filter(Boolean).length,
      ...(page.next && { next: page.next }),
    };

    /** @returns whether there is something to do */
    async function take(issue: GithubIssue): Promise<boolean> {
      const planned = await planListed(issue, repository, context);
      const { number, entity, reported, plan } = planned;
      if (plan.does === 'nothing' && plan.fate !== 'under way') {
        await backfills.take(found, { number, fate: plan.fate, why: plan.why });
        return false;
      }
      const draft = { ...draftOf(planned, found), cause: { from: 'job', id: pageJob } } as const;
      await links.change(entity, (link) => keep(link, reported));
      await jobs.store(draft, 'it takes what no other job wants');
      // Last, so that every issue that is noted as open has a job that will end.
      await backfills.take(found, { number, fate: 'open', jobId: draft.id });
      return true;
    }
  }

  async function finish(found: Backfill, counts: IssueCounts): Promise<string> {
    const { open, done, left, parked } = counts;
    if (open > 0) throw new RetryAt(clock() + LOOKS_EVERY_MS, `${open} of its issues have not ended`);
    await backfills.change(found, { status: 'finished', finishedAt: clock() });
    return `${done} of ${done + left + parked} issues have their defect; ${left} were left, ${parked} are parked`;
  }
}
