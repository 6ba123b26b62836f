import { SECOND_MS } from '../dates.ts';
import { NeedsOperator } from '../engine/record/interruption.ts';
import type { GithubClient } from '../platforms/github/github-client.ts';
import { ownerAndRepo } from '../platforms/github/github-client.ts';
import { type GithubIssue, PayloadError, readIssue } from '../platforms/github/payload.ts';

/** A position in the list of a repository's issues, ordered by their last change. */
export interface IssueCursor {
  /** ISO 8601. All issues changed earlier have been read. */
  from: string;
  /** Begins with 1. Higher only if more issues were changed within one second than fit on a page. */
  page: number;
}

export interface IssuePage {
  issues: GithubIssue[];
  /** The numbers of issues that do not match GitHub's documentation. */
  unreadable: number[];
  /** The list also contains pull requests. */
  pullRequests: number;
  next: IssueCursor | undefined;
}

const PAGE_SIZE = 100;

/**
 * Reads one page of a repository's issues with one request.
 *
 * Issues are ordered by their last change, and each page begins with the last second of the previous page. So an issue
 * that is changed, deleted or transferred meanwhile moves no other issue across a page, and a changed issue is listed
 * again.
 * https://docs.github.com/en/rest/issues/issues#list-repository-issues
 *
 * @param cursor without it, the first page
 * @throws {Interruption} for a failure that may pass, and for a refusal that an operator can fix
 */
export function fetchIssuePage(
  github: GithubClient,
  repository: string,
  state: 'open' | 'all',
  cursor?: IssueCursor,
): Promise<IssuePage> {
  return github.ask<IssuePage>(
    async () => {
      const authorized = await github.at({ repository });
      if (!authorized) {
        throw new NeedsOperator(
          'there are no GitHub credentials in the secret, and reading issues needs them; set GITHUB_TOKEN on one machine, or run npx partner-relay secrets set github',
        );
      }
      const { data, headers } = await authorized.request('GET /repos/{owner}/{repo}/issues', {
        ...ownerAndRepo(repository),
        state,
        sort: 'updated',
        direction: 'asc',
        per_page: PAGE_SIZE,
        ...(cursor && { since: secondBefore(cursor.from), page: cursor.page }),
      });
      const listed = data.filter(({ pull_request }) => !pull_request);
      const read = listed.map((issue) => readOrUndefined(issue));
      const issues = read.filter((issue) => issue !== undefined);
      const last = data.at(-1)?.updated_at;
      const hasNext = /;\s*rel="next"/.test(headers.link ?? '');
      return {
        issues,
        unreadable: listed.filter((_, index) => read[index] === undefined).map(({ number }) => number),
        pullRequests: data.length - listed.length,
        next: hasNext && last !== undefined ? after(last, cursor) : undefined,
      };
    },
    ({ status }) => {
      throw new NeedsOperator(
        `GitHub refuses the issues of ${repository} with ${status}: give the App or the token the right to read issues there`,
      );
    },
  );
}

/** Returns undefined for an unreadable issue, so that it does not block all others. */
function readOrUndefined(issue: unknown): GithubIssue | undefined {
  try {
    return readIssue(issue);
  } catch (error) {
    if (error instanceof PayloadError) return undefined;
    throw error;
  }
}

function after(last: string, cursor: IssueCursor | undefined): IssueCursor {
  const isSameSecond = cursor !== undefined && Date.parse(last) <= Date.parse(cursor.from);
  return isSameSecond ? { from: cursor.from, page: cursor.page + 1 } : { from: last, page: 1 };
}

/** Returns the second before, because GitHub's documentation does not say whether `since` includes its own second. */
function secondBefore(time: string): string {
  return new Date(Date.parse(time) - SECOND_MS).toISOString().replace(/\.\d+/, '');
}
