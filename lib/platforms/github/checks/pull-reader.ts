import type { GithubForJobs } from '../github-for-jobs.ts';
import type { IssueAddress } from '../issue-reader.ts';
import { readPayload } from '../payload.ts';
import { type CheckedPull, checkedPull } from './payloads.ts';

export interface PullReader {
  /**
   * Reads a pull request as it is now.
   * @returns undefined where GitHub does not show it
   * @throws {Interruption} for a failure that may pass
   */
  read(address: IssueAddress): Promise<CheckedPull | undefined>;
}

/** https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request */
export function createPullReader(github: GithubForJobs): PullReader {
  return {
    read: ({ repository, issueNumber, installationId }) =>
      github.ask<CheckedPull | undefined>(
        async () => {
          const [owner = '', repo = ''] = repository.split('/');
          const authorized = await github.at({ repository, installationId });
          const pull = { owner, repo, pull_number: issueNumber };
          const answer = await authorized?.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', pull);
          return answer && readPayload('pull request', checkedPull, answer.data);
        },
        () => undefined,
      ),
  };
}
