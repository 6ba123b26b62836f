import { workJobs } from '../../automations/note-work/draft.ts';
import { findRepository } from '../../config/find-repository.ts';
import type { RelayConfig } from '../../config/schema.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { readIssuesPayload } from '../../platforms/github/issue.ts';
import { readPayload } from '../../platforms/github/payload.ts';
import { pullRequestPayload } from '../../platforms/github/pull-request.ts';
import type { Taken } from './taken.ts';

/** A text that may close an issue. Reading it takes a parser that a cold start should not load. */
const MAY_CLOSE = /\b(?:close|fix|resolve)/i;

/** What a person of relay.config.ts finished: an issue that they closed, or their pull request that was merged. */
export async function takeWork({ event, payload }: GithubDelivery, config: RelayConfig): Promise<Taken | undefined> {
  if (payload.action !== 'closed' || !config.timesheets) return undefined;
  const work = event === 'issues' ? closedIssue(payload) : event === 'pull_request' ? await merged(payload) : undefined;
  if (!work) return undefined;
  const settings = findRepository(config, work.repository);
  const login = work.login?.toLowerCase();
  const isKnown = login !== undefined && config.people.some(({ github }) => github?.toLowerCase() === login);
  if (!settings?.issueToDefect || !isKnown) return undefined;
  const { name, happened, at, issues, what } = work;
  const did = `${what} ${name}`;
  const job = workJobs.draft({
    connection: settings.connection,
    lane: 'background',
    entity: name,
    happened,
    summary: `@${work.login} ${did}`,
    input: { login, did, issues, at },
  });
  return { happenedAt: at, jobs: [job] };
}

function closedIssue(payload: unknown) {
  const { issue, sender, repository } = readIssuesPayload(payload);
  const name = `${repository.full_name}#${issue.number}`;
  const at = Date.parse(issue.updated_at);
  const happened = [issue.id, issue.updated_at];
  return { repository: repository.full_name, name, login: sender?.login, at, happened, issues: [name], what: 'closed' };
}

/** A merge into another branch than the default one closes nothing. */
async function merged(payload: unknown) {
  const { pull_request: pull, repository } = readPayload('pull_request', pullRequestPayload, payload);
  const { base, body, merged_at: mergedAt } = pull;
  if (!pull.merged || base.ref !== base.repo.default_branch || !MAY_CLOSE.test(body ?? '')) return undefined;
  const { closedIssues } = await import('./in-texts.ts');
  const issues = closedIssues(body ?? '', repository.full_name);
  if (issues.length === 0) return undefined;
  const name = `${repository.full_name}#${pull.number}`;
  const [at, happened] = [Date.parse(mergedAt ?? pull.updated_at), ['pull request', pull.id]];
  return { repository: repository.full_name, name, login: pull.user?.login, at, happened, issues, what: 'merged' };
}
