import type { RequestError } from '@octokit/request-error';
import { isBot } from './association.ts';
import type { IssueAddress } from './fetch-issue.ts';
import { type GithubClient, GithubRefusal, ownerAndRepo, pagesOf } from './github-client.ts';
import { createOwnComments } from './own-comments.ts';

/** The result for a comment. */
export type MadeComment = { url: string } | { leftOut: string };

/** A comment as GitHub shows it, without login and account id if its author's account is deleted. */
export interface ReadComment {
  text: string;
  login: string | undefined;
  /** The account's id. */
  accountId: number | undefined;
  isByBot: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
}

export type IssueComments = ReturnType<typeof createIssueComments>;

const PAGES = 3;
const PAGE_SIZE = 100;
/** The assumed maximum difference between GitHub's clock and ours. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * Reads and writes comments on issues, as a GitHub App's installation or with a token.
 * https://docs.github.com/en/rest/issues/comments
 */
export function createIssueComments(github: GithubClient, clock: () => number) {
  const ownComments = createOwnComments(clock);

  return {
    /** @returns undefined if the secret has no credentials for comments */
    async for(place: IssueAddress) {
      if (!(await github.isThere())) return undefined;
      const repository = ownerAndRepo(place.repository);
      const issue = { ...repository, issue_number: place.issueNumber };
      const credentials = async () => {
        const authorized = await github.at(place);
        if (!authorized) throw new GithubRefusal('the github secret has an appId without a privateKey');
        return authorized;
      };
      return {
        /**
         * Finds the relay's own comment that contains the marker, among the first 300 comments since then (epoch
         * milliseconds).
         */
        find: (marker: string, since: number) =>
          github.ask<MadeComment | undefined>(async () => {
            const authorized = await credentials();
            const isOwn = await ownComments(authorized);
            const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
            const query = { since: new Date(since - CLOCKS_DIFFER_MS).toISOString(), per_page: PAGE_SIZE };
            let pages = 0;
            for await (const { data } of pagesOf((query) => authorized.request(path, { ...issue, ...query }), query)) {
              const mine = data.find((comment) => isOwn(comment) && comment.body?.includes(marker));
              if (mine) return { url: mine.html_url };
              if (++pages === PAGES) break;
            }
            return undefined;
          }, leftOut),
        /** @param ensureTime as in a `Reply` */
        make: (text: string, ensureTime: () => void) =>
          github.ask<MadeComment>(async () => {
            const { request } = await credentials();
            const path = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
            ensureTime();
            const { data } = await request(path, { ...issue, body: text });
            return { url: data.html_url };
          }, leftOut),
        /**
         * Reads a comment by id.
         * @returns null if it was deleted, undefined if the credentials may not read it
         */
        read: (id: number) =>
          github.ask<ReadComment | null | undefined>(
            async () => {
              const { request } = await credentials();
              const path = 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}';
              const { data } = await request(path, { ...repository, comment_id: id });
              return {
                text: data.body ?? '',
                login: data.user?.login,
                accountId: data.user ? Number(data.user.id) : undefined,
                isByBot: isBot(data.user),
                createdAt: Date.parse(data.created_at),
                updatedAt: Date.parse(data.updated_at),
              };
            },
            ({ status }) => (status === 404 || status === 410 ? null : undefined),
          ),
      };
    },
  };
}

/**
 * Returns why the comment is left out.
 * @throws {GithubRefusal} for a refusal that an operator can fix
 */
function leftOut({ status, message }: RequestError): MadeComment {
  if (status === 410) return { leftOut: 'the issue is deleted' };
  if (status === 403 && /locked/i.test(message)) return { leftOut: 'the issue is locked' };
  throw new GithubRefusal(
    `GitHub refuses the comment with ${status}: give the App or the token the right to write issues there`,
  );
}
