import { RequestError } from '@octokit/request-error';
import type { Secrets } from '../secrets/secrets.ts';
import { createGithubClient } from './github-client.ts';
import { type GithubIssue, readIssue } from './issue.ts';
import { passingFailure } from './passing-failure.ts';

/** Where an issue is. */
export interface IssueAddress {
  /** owner/name */
  repository: string;
  issueNumber: number;
  /** Of a GitHub App's deliveries; without it the App is asked for it. */
  installationId?: number | undefined;
}

export interface IssueReader {
  /**
   * Reads an issue as it is now.
   * @returns undefined where the secret has no credentials, or GitHub does not show them this issue
   * @throws {Interruption} for a failure that may pass
   */
  read(address: IssueAddress): Promise<GithubIssue | undefined>;
}

const CALL_TIMEOUT_MS = 5_000;

export interface IssueReaderOptions {
  apiUrl: string;
  secrets: Secrets;
  clock: () => number;
  fetch?: typeof globalThis.fetch;
}

/** https://docs.github.com/en/rest/issues/issues#get-an-issue */
export function createIssueReader({
  apiUrl,
  secrets,
  clock,
  fetch = globalThis.fetch,
}: IssueReaderOptions): IssueReader {
  const github = createGithubClient({ apiUrl, secrets, fetch, timeoutMs: CALL_TIMEOUT_MS });
  return {
    async read({ repository, issueNumber, installationId }) {
      const [owner = '', repo = ''] = repository.split('/');
      try {
        const authorized = await github.at({ repository, installationId });
        const issue = { owner, repo, issue_number: issueNumber };
        const answer = await authorized?.request('GET /repos/{owner}/{repo}/issues/{issue_number}', issue);
        return answer && readIssue(answer.data);
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const passing = passingFailure(error, github, clock());
        if (passing) throw passing;
        return undefined;
      }
    },
  };
}
