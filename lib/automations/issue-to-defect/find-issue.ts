import type { IssueName } from '../../links/link-life.ts';
import { createLinks } from '../../links/links.ts';
import { fetchIssue } from '../../platforms/github/fetch-issue.ts';
import type { GithubForJobs } from '../../platforms/github/github-for-jobs.ts';
import type { Stores } from '../../runtime.ts';
import { issueEntity } from './draft.ts';

/**
 * Finds an issue by its name: as the relay last saw it, or as GitHub knows it.
 *
 * @param github without it, GitHub is not asked
 * @throws {Error} for text in another format, and for an issue that neither knows
 */
export async function findIssue(
  text: string,
  { table, clock }: Pick<Stores, 'table' | 'clock'>,
  github: GithubForJobs | undefined,
): Promise<IssueName> {
  const [, repository, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(text) ?? [];
  if (!repository || !number) throw new Error(`'${text}' is not an issue; expected owner/repo#42`);
  const known = await createLinks(table, clock).named(text);
  if (known !== undefined) return { entity: known, name: text };
  const issue = github && (await fetchIssue(github, { repository, issueNumber: Number(number) }));
  if (issue) return { entity: issueEntity(issue.id), name: text };
  const asked = github
    ? 'and GitHub does not show it'
    : 'and this console cannot ask GitHub: use npm run -s relay -- issue';
  throw new Error(`the relay has seen no event of ${text} in the last 30 days, ${asked}`);
}
