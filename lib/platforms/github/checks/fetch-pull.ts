import type { IssueAddress } from '../fetch-issue.ts';
import { ownerAndRepo } from '../github-client.ts';
import type { GithubForJobs } from '../github-for-jobs.ts';
import { readPayload } from '../payload.ts';
import { type CheckedPull, checkedPull } from './payloads.ts';

/**
 * Reads a pull request as it is now. https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
 *
 * @returns undefined if GitHub does not show it
 * @throws {Interruption} for a failure that may pass
 */
export function fetchPull(github: GithubForJobs, address: IssueAddress): Promise<CheckedPull | undefined> {
  return github.ask<CheckedPull | undefined>(
    async () => {
      const authorized = await github.at(address);
      const pull = { ...ownerAndRepo(address.repository), pull_number: address.issueNumber };
      const answer = await authorized?.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', pull);
      return answer && readPayload('pull request', checkedPull, answer.data);
    },
    () => undefined,
  );
}
