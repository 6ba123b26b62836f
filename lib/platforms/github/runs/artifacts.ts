import { NeedsOperator, StepFailed } from '../../../engine/record/interruption.ts';
import type { GithubForJobs } from '../github-for-jobs.ts';
import type { IssueAddress } from '../issue-reader.ts';
import { pagesOf } from '../pages.ts';

/** What a workflow run has uploaded. */
export interface Artifact {
  id: number;
  name: string;
  /** Of its archive. */
  bytes: number;
  /** Epoch milliseconds. */
  createdAt: number;
}

type Place = Pick<IssueAddress, 'repository' | 'installationId'>;

/** The artifacts of workflow runs, as an App with the permission "Actions: read" sees them. */
export interface Artifacts {
  /** Those of a run that have not expired, the newest of each name first. */
  list(place: Place, runId: number): Promise<Artifact[]>;
  /**
   * Fetches the archive of an artifact.
   * @returns undefined if it is gone
   * @throws {TooLarge} as soon as more bytes have come
   */
  fetch(place: Place, artifactId: number, mostBytes: number): Promise<Uint8Array | undefined>;
}

/** An archive has more bytes than asked for. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

const PAGE_SIZE = 100;
const PAGES = 5;
const STORE_TIMEOUT_MS = 20_000;

/**
 * An artifact belongs to a run, not to an attempt, and GitHub's documentation does not say what a re-run leaves. Assumed:
 * a re-run of all jobs leaves none of earlier attempts, and one of some jobs leaves those of the others.
 * https://docs.github.com/en/rest/actions/artifacts
 */
export function createArtifacts(github: GithubForJobs, fetch: typeof globalThis.fetch, apiUrl: string): Artifacts {
  return {
    list: (place, runId) =>
      github.ask(
        async () => {
          const { request, ...of } = await appAt(place);
          const found: Artifact[] = [];
          let pages = 0;
          const about = { ...of, run_id: runId };
          for await (const { data } of pagesOf(
            (query) => request('GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts', { ...about, ...query }),
            { per_page: PAGE_SIZE, page: 1 },
          )) {
            for (const { id, name, size_in_bytes: bytes, expired, created_at } of data.artifacts) {
              if (!expired) found.push({ id: Number(id), name, bytes, createdAt: Date.parse(created_at ?? '') });
            }
            if (++pages === PAGES) break;
          }
          return found.sort((a, b) => b.id - a.id);
        },
        ({ status }) => {
          // The run was deleted.
          if (status === 404) return [];
          throw needsApp(place.repository, status);
        },
      ),
    async fetch(place, artifactId, mostBytes) {
      const address = await github.ask(
        async () => {
          const { request, ...of } = await appAt(place);
          const { headers } = await request(
            'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
            {
              ...of,
              artifact_id: artifactId,
              archive_format: 'zip',
              request: { redirect: 'manual' },
            },
          );
          return headers.location;
        },
        ({ status }) => {
          if (status === 404 || status === 410) return undefined;
          throw needsApp(place.repository, status);
        },
      );
      return address === undefined ? undefined : fromStore(storeAt(address), mostBytes);
    },
  };

  async function appAt(place: Place) {
    const app = await github.at(place, 'app');
    if (!app) throw needsApp(place.repository);
    const [owner = '', repo = ''] = place.repository.split('/');
    return { request: app.request, owner, repo };
  }

  /** Nothing is sent over an open line, except to a stand-in for GitHub. */
  function storeAt(address: string): URL {
    const store = new URL(address, apiUrl);
    if (store.protocol === 'https:' || store.origin === new URL(apiUrl).origin) return store;
    throw new StepFailed('GitHub says that the artifact is at an address without https');
  }

  /** The address is signed, so the store gets no token. */
  async function fromStore(address: URL, mostBytes: number): Promise<Uint8Array | undefined> {
    try {
      const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(STORE_TIMEOUT_MS) });
      if (response.status === 404 || response.status === 410) return undefined;
      if (!response.ok || !response.body) throw new Error(`it answered ${response.status}`);
      const parts: Uint8Array[] = [];
      let bytes = 0;
      for await (const part of response.body) {
        bytes += part.byteLength;
        // Leaving the loop cancels the rest.
        if (bytes > mostBytes) throw new TooLarge();
        parts.push(part);
      }
      return Buffer.concat(parts);
    } catch (error) {
      if (error instanceof TooLarge) throw error;
      const why = error instanceof Error ? error.message : error;
      throw new StepFailed(`the store of GitHub's artifacts did not deliver: ${why}`, { cause: error });
    }
  }
}

/** @param status of GitHub's refusal; without it, there is no App */
function needsApp(repository: string, status?: number): NeedsOperator {
  const why =
    status === undefined
      ? 'the github secret has no GitHub App: create one with npm run -s relay -- github-app-manifest'
      : `GitHub answers ${status}: give the App the permission "Actions: read", and accept it where it is installed`;
  return new NeedsOperator(`the test results of ${repository} cannot be read: ${why}`);
}
