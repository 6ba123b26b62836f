import type { GithubForJobs } from './github-for-jobs.ts';
import { type GithubIssue, readIssue } from './issue.ts';

/** Where an issue is. */
export interface IssueAddress {
  /** owner/name */
  repository: string;
  issueNumber: number;
  /** In deliveries of a GitHub App. Without it, the App is asked for it. */
  installationId?: number | undefined;
}

export interface IssueReader {
  /**
   * Reads an issue as it is now.
   * @returns undefined if the secret has no credentials, or GitHub does not show them this issue
   * @throws {Interruption} for a failure that may pass
   */
  read(address: IssueAddress): Promise<GithubIssue | undefined>;
}

/** https://docs.github.com/en/rest/issues/issues#get-an-issue */
export function createIssueReader(github: GithubForJobs): IssueReader {
  return {
    read: ({ repository, issueNumber, installationId }) =>
      github.ask<GithubIssue | undefined>(
        async () => {
          const [owner = '', repo = ''] = repository.split('/');
          const authorized = await github.at({ repository, installationId });
          const issue = { owner, repo, issue_number: issueNumber };
          const answer = await authorized?.request('GET /repos/{owner}/{repo}/issues/{issue_number}', issue);
          return answer && readIssue(answer.data);
        },
        () => undefined,
      ),
  };
}
