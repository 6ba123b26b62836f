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

/** What a workflow run has uploaded. */
export interface Artifact {
  id: number;
  name: string;
  /** The size of its archive. */
  bytes: number;
}

const PAGE_SIZE = 100;
/** Where so many are listed, there may be others. */
export const MOST_LISTED = 500;
const STORE_TIMEOUT_MS = 20_000;

/**
 * The artifacts of workflow runs, as an App with the permission "Actions: read" sees them.
 *
 * An artifact belongs to a run, not to an attempt, and GitHub's documentation does not say what a re-run leaves. Assumed:
 * a re-run of all jobs leaves none of earlier attempts, and one of some jobs leaves those of the others.
 * https://docs.github.com/en/rest/actions/artifacts
 */
export function createArtifacts(github: GithubClient, fetch: typeof globalThis.fetch, apiUrl: string) {
  return {
    /** The artifacts of a run that have not expired, the newest first. */
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
    /** @returns undefined for one that is gone, and for one with more bytes than `most` as soon as they have come */
    async fetch(place: RepositoryAddress, id: number, most: number): Promise<Buffer | undefined> {
      const address = await ask(place, async (request, of) => {
        const artifact = { ...of, artifact_id: id, archive_format: 'zip', request: { redirect: 'manual' as const } };
        const path = 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}';
        return (await request(path, artifact)).headers.location;
      });
      return address === undefined ? undefined : fromStore(new URL(address, apiUrl), most);
    },
  };

  /** @returns undefined for what is gone */
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

  /** The address is signed, so the store gets no token. Only a stand-in for GitHub may do without https. */
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
