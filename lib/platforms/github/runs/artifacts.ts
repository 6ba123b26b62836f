import { readUpTo } from '../../../outside.ts';
import { messageOf } from '../../../text.ts';
import { PlatformUnanswered } from '../../errors.ts';
import {
  type GithubClient,
  GithubRefusal,
  type GithubRequest,
  ownerAndRepo,
  pagesOf,
  type RepositoryAddress,
} from '../github-client.ts';

/** A file archive uploaded by a workflow run. */
export interface Artifact {
  id: number;
  name: string;
  /** The archive's size. */
  bytes: number;
}

const PAGE_SIZE = 100;
/** If this many are listed, there may be more. */
export const MOST_LISTED = 500;
const STORE_TIMEOUT_MS = 20_000;

/**
 * Lists and downloads the artifacts of workflow runs, as an App with the permission "Actions: read".
 *
 * An artifact belongs to a run, not to an attempt, and GitHub's documentation does not say which artifacts remain after
 * a re-run. Assumed: a re-run of all jobs removes the artifacts of earlier attempts, and a re-run of some jobs keeps
 * those of the others.
 * https://docs.github.com/en/rest/actions/artifacts
 */
export function createArtifacts(github: GithubClient, fetch: typeof globalThis.fetch, apiUrl: string) {
  return {
    /** Returns the artifacts of a run that have not expired, newest first. */
    async list(place: RepositoryAddress, runId: number): Promise<Artifact[]> {
      const found = await ask(place, async (request, of) => {
        const found: Artifact[] = [];
        const pages = pagesOf(
          (page) =>
            request('GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts', { ...of, run_id: runId, ...page }),
          { per_page: PAGE_SIZE, page: 1 },
        );
        for await (const { data } of pages) {
          for (const { id, name, size_in_bytes: bytes, expired } of data.artifacts) {
            if (!expired) found.push({ id: Number(id), name, bytes });
          }
          if (found.length >= MOST_LISTED) break;
        }
        return found;
      });
      return found?.sort((a, b) => b.id - a.id) ?? [];
    },
    /** @returns undefined if the artifact is gone, or as soon as it exceeds `most` bytes */
    async fetch(place: RepositoryAddress, id: number, most: number): Promise<Buffer | undefined> {
      const address = await ask(place, async (request, of) => {
        const artifact = { ...of, artifact_id: id, archive_format: 'zip', request: { redirect: 'manual' as const } };
        const path = 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}';
        return (await request(path, artifact)).headers.location;
      });
      return address === undefined ? undefined : fromStore(new URL(address, apiUrl), most);
    },
  };

  /** @returns undefined if it is gone */
  async function ask<T>(
    place: RepositoryAddress,
    requests: (request: GithubRequest, of: { owner: string; repo: string }) => Promise<T>,
  ): Promise<T | undefined> {
    const cannot = (why: string) => new GithubRefusal(`test results of ${place.repository} cannot be read: ${why}`);
    return github.ask<T | undefined>(
      async () => {
        const app = await github.at(place, 'app');
        if (!app)
          throw cannot('the github secret has no App; create one with npx partner-relay init --keep --github-app');
        return requests(app.request, ownerAndRepo(place.repository));
      },
      ({ status }) => {
        if (status === 404 || status === 410) return undefined;
        throw cannot(`GitHub answers ${status}; give the App the permission "Actions: read", and accept it`);
      },
    );
  }

  /** Downloads from a signed address, so the store gets no token. Only a stand-in for GitHub may use plain http. */
  async function fromStore(address: URL, most: number): Promise<Buffer | undefined> {
    try {
      if (address.protocol !== 'https:' && address.origin !== new URL(apiUrl).origin) throw new Error('no https');
      const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(STORE_TIMEOUT_MS) });
      if (response.status === 404 || response.status === 410) return undefined;
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      const { bytes, isCut } = await readUpTo(most, response.body);
      return isCut ? undefined : bytes;
    } catch (error) {
      const why = messageOf(error);
      throw new PlatformUnanswered(`the store of GitHub's artifacts did not deliver: ${why}`, { cause: error });
    }
  }
}
