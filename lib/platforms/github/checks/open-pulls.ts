import * as z from 'zod/mini';
import { type GithubClient, ownerAndRepo, pagesOf, type RepositoryAddress } from '../github-client.ts';
import { type OpenPull, openPull, readPayload } from '../payload.ts';

const PAGE_SIZE = 100;
/** How many pages to read at most. Recently changed pull requests are on the first pages. */
const MOST_PAGES = 10;

/**
 * Returns the open pull requests whose head is this commit. Reads the list of all open pull requests, because GitHub's
 * list for a commit lacks those from forks. https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
 *
 * @returns none if GitHub does not show them
 * @throws {PlatformRateLimited | PlatformUnanswered}
 */
export function openPulls(github: GithubClient, place: RepositoryAddress, headSha: string): Promise<OpenPull[]> {
  return github.ask<OpenPull[]>(
    async () => {
      const authorized = await github.at(place);
      const found: OpenPull[] = [];
      if (!authorized) return found;
      const repository = ownerAndRepo(place.repository);
      const pages = pagesOf(
        (page) => authorized.request('GET /repos/{owner}/{repo}/pulls', { ...repository, ...page }),
        { state: 'open', sort: 'updated', direction: 'desc', per_page: PAGE_SIZE, page: 1 },
      );
      let read = 0;
      for await (const { data } of pages) {
        const those = data.filter(({ head }) => head.sha === headSha);
        found.push(...readPayload('pull requests', z.array(openPull), those));
        if (++read === MOST_PAGES) break;
      }
      return found;
    },
    () => [],
  );
}
