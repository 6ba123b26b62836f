import { findRepository } from '../../config/find-repository.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { NeedsOperator } from '../../engine/record/interruption.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import type { IssueState } from '../../links/issue-state.ts';
import { keep, type ReportedState } from '../../links/link-life.ts';
import type { GithubIssue } from '../../platforms/github/issue.ts';
import { cutToBytes } from '../../text.ts';
import type { PlanContext } from '../context.ts';
import { fateOfClaim } from '../issue-to-defect/claim-fate.ts';
import { isDefect, reportedState } from '../issue-to-defect/defect-text.ts';
import { issueEntity, issueJobs } from '../issue-to-defect/draft.ts';
import type { IssueRepository } from '../issue-to-defect/issue-decisions.ts';
import { type IssuePlan, planIssue } from '../issue-to-defect/issue-plan.ts';
import type { Backfill, IssueFilter } from './backfills.ts';

/** An issue that a backfill takes, and what its job would do. */
export interface PlannedIssue {
  number: number;
  title: string;
  entity: string;
  reported: ReportedState<IssueState>;
  plan: IssuePlan;
}

/** The issues that a backfill leaves out, by reason. */
export type LeftAside = 'pull request' | 'without a label' | 'changed before' | 'unreadable';

/** @throws {NeedsOperator} if relay.config.ts does not turn issues of the repository into defects */
export function repositoryToBackfill(config: RelayConfig, fullName: string): IssueRepository {
  const found = findRepository(config, fullName);
  if (found?.issueToDefect) return { name: found.name, connection: found.connection, settings: found.issueToDefect };
  const names = config.github.repositories.filter(({ issueToDefect }) => issueToDefect).map(({ name }) => name);
  const configured = names.length > 0 ? `it is set for ${names.join(', ')}` : 'it is set for no repository';
  throw new NeedsOperator(
    `relay.config.ts turns no issues of ${fullName} into defects; ${configured}. Add issueToDefect to the repository under github.repositories`,
  );
}

/** Why a backfill does not take an issue; undefined if it takes it. */
export function leftAside(issue: GithubIssue, { settings }: IssueRepository, filter: IssueFilter) {
  const labels = (issue.labels ?? []).map(({ name }) => name);
  // The list may begin a second earlier, and reports an issue again that was changed meanwhile.
  if (filter.since !== undefined && Date.parse(issue.updated_at) < Date.parse(filter.since)) return 'changed before';
  const named = filter.labels && { ...settings, labels: filter.labels };
  return isDefect(labels, settings) && (!named || isDefect(labels, named)) ? undefined : 'without a label';
}

/** What the job of an issue would do, if GitHub's state is the newest. */
export async function planListed(
  issue: GithubIssue,
  repository: IssueRepository,
  context: PlanContext,
): Promise<PlannedIssue> {
  const { name, connection, settings } = repository;
  const entity = issueEntity(issue.id);
  const reported = reportedState(issue, name, settings);
  const link = await context.links.look(entity);
  const view = { job: { connection, entity: reported.name, lane: 'backfill' }, repository } as const;
  const plan = await planIssue(keep(link, reported) ?? link, view, (jobId) => fateOfClaim(jobId, context));
  return { number: issue.number, title: issue.title, entity, reported, plan };
}

/** The job of an issue. Every run of a page makes the same job of it. */
export function draftOf({ number, entity, reported }: PlannedIssue, backfill: Backfill): JobDraft {
  const { repository, connection, startedAt, comment } = backfill;
  return issueJobs.draft({
    happened: [entity, 'backfill', startedAt],
    connection,
    lane: 'backfill',
    entity: reported.name,
    summary: `${reported.name} from a backfill: ${cutToBytes(reported.state.title, 200, '…')}`,
    input: { repository, issueNumber: number, entity, backfill: { startedAt, comment } },
  });
}
