import { type GithubClient, ownerAndRepo, type RepositoryAddress } from './github-client.ts';
import { type GithubIssue, readIssue } from './payload.ts';

export interface IssueAddress extends RepositoryAddress {
  issueNumber: number;
}

/**
 * Reads the current state of an issue. https://docs.github.com/en/rest/issues/issues#get-an-issue
 *
 * @returns undefined if the secret has no credentials, or if GitHub does not show them the issue
 * @throws {PlatformRateLimited | PlatformUnanswered}
 */
export async function fetchIssue(github: GithubClient, address: IssueAddress): Promise<GithubIssue | undefined> {
  const issue = await fetchIssueOrGone(github, address);
  return issue === 'gone' ? undefined : issue;
}

/**
 * Like `fetchIssue`, but returns `gone` for a deleted issue. For a transferred issue, GitHub returns the issue of the
 * new repository.
 */
export function fetchIssueOrGone(
  github: GithubClient,
  address: IssueAddress,
): Promise<GithubIssue | 'gone' | undefined> {
  return github.ask<GithubIssue | 'gone' | undefined>(
    async () => {
      const authorized = await github.at(address);
      const issue = { ...ownerAndRepo(address.repository), issue_number: address.issueNumber };
      const answer = await authorized?.request('GET /repos/{owner}/{repo}/issues/{issue_number}', issue);
      return answer && readIssue(answer.data);
    },
    ({ status }) => (status === 410 ? 'gone' : undefined),
  );
}
