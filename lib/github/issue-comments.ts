import { RequestError } from '@octokit/request-error';
import { NeedsOperator } from '../jobs/interruption.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { createGithubClient } from './github-client.ts';
import type { IssueAddress } from './issue-reader.ts';
import { createOwnComments } from './own-comments.ts';
import { passingFailure } from './passing-failure.ts';

/** What became of a comment. */
export type MadeComment = { url: string } | { leftOut: string };

export interface IssueComments {
  /** @returns undefined where the secret has no credentials to comment with */
  for(place: IssueAddress): Promise<
    | {
        /** The comment of the relay's own whose text holds the marker, among the first 300 since then (epoch milliseconds). */
        find(marker: string, since: number): Promise<MadeComment | undefined>;
        make(text: string): Promise<MadeComment>;
        /**
         * The text of a comment, by its id.
         * @returns null for one that is deleted, undefined where the credentials may not read it
         */
        read(id: number): Promise<string | null | undefined>;
      }
    | undefined
  >;
}

const CALL_TIMEOUT_MS = 5_000;
const PAGES = 3;
const PAGE_SIZE = 100;
/** How far GitHub's clock may be from ours. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

export interface IssueCommentsOptions {
  apiUrl: string;
  secrets: Secrets;
  clock: () => number;
  fetch?: typeof globalThis.fetch;
}

/**
 * Comments on issues, as a GitHub App's installation or with a token.
 * https://docs.github.com/en/rest/issues/comments
 */
export function createIssueComments({
  apiUrl,
  secrets,
  clock,
  fetch = globalThis.fetch,
}: IssueCommentsOptions): IssueComments {
  const github = createGithubClient({ apiUrl, secrets, fetch, timeoutMs: CALL_TIMEOUT_MS });

  const ownComments = createOwnComments(clock);

  /** Throws what a failed request means for the job, unless it is a refusal for what was asked. */
  function throwIfItMayPass(error: unknown): asserts error is RequestError {
    if (!(error instanceof RequestError)) throw error;
    const passing = passingFailure(error, github, clock());
    if (passing) throw passing;
  }

  /** Turns what GitHub refuses into what it means for the job. */
  async function withJobErrors<T>(call: () => Promise<T>): Promise<T | { leftOut: string }> {
    try {
      return await call();
    } catch (error) {
      throwIfItMayPass(error);
      if (error.status === 410) return { leftOut: 'the issue is deleted' };
      if (error.status === 403 && /locked/i.test(error.message)) return { leftOut: 'the issue is locked' };
      throw new NeedsOperator(
        `GitHub refuses the comment with ${error.status}: may the App or the token write to issues here?`,
      );
    }
  }

  return {
    async for(place) {
      if (!(await github.isThere())) return undefined;
      const [owner = '', repo = ''] = place.repository.split('/');
      const issue = { owner, repo, issue_number: place.issueNumber };
      const credentials = async () => {
        const authorized = await github.at(place);
        if (!authorized) throw new NeedsOperator('the github secret has an appId without a privateKey');
        return authorized;
      };
      return {
        find: (marker, since) =>
          withJobErrors(async () => {
            const authorized = await credentials();
            const isOwn = await ownComments(authorized);
            for (let page = 1; page <= PAGES; page++) {
              const { data } = await authorized.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
                ...issue,
                since: new Date(since - CLOCKS_DIFFER_MS).toISOString(),
                per_page: PAGE_SIZE,
                page,
              });
              const mine = data.find((comment) => isOwn(comment) && comment.body?.includes(marker));
              if (mine) return { url: mine.html_url };
              if (data.length < PAGE_SIZE) return undefined;
            }
            return undefined;
          }),
        make: (text) =>
          withJobErrors(async () => {
            const { request } = await credentials();
            const { data } = await request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
              ...issue,
              body: text,
            });
            return { url: data.html_url };
          }),
        async read(id) {
          try {
            const { request } = await credentials();
            const path = 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}';
            const { data } = await request(path, { owner, repo, comment_id: id });
            return data.body ?? '';
          } catch (error) {
            throwIfItMayPass(error);
            return error.status === 404 || error.status === 410 ? null : undefined;
          }
        },
      };
    },
  };
}
