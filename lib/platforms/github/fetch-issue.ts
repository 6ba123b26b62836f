import { ownerAndRepo, type RepositoryAddress } from './github-client.ts';
import type { GithubForJobs } from './github-for-jobs.ts';
import { type GithubIssue, readIssue } from './issue.ts';

/** Where an issue is. */
export interface IssueAddress extends RepositoryAddress {
  issueNumber: number;
}

/**
 * Reads an issue as it is now. https://docs.github.com/en/rest/issues/issues#get-an-issue
 *
 * @returns undefined if the secret has no credentials, or GitHub does not show them this issue
 * @throws {Interruption} for a failure that may pass
 */
export function fetchIssue(github: GithubForJobs, address: IssueAddress): Promise<GithubIssue | undefined> {
  return github.ask<GithubIssue | undefined>(
    async () => {
      const authorized = await github.at(address);
      const issue = { ...ownerAndRepo(address.repository), issue_number: address.issueNumber };
      const answer = await authorized?.request('GET /repos/{owner}/{repo}/issues/{issue_number}', issue);
      return answer && readIssue(answer.data);
    },
    () => undefined,
  );
}
