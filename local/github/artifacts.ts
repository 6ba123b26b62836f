import { type Answer, answerOf, notFound, pageOf } from './answer.ts';

/** What a workflow run has uploaded. */
export interface KeptArtifact {
  runId: number;
  name: string;
  /** ISO 8601. */
  createdAt: string;
  archive: Uint8Array;
}

const STORE = '/artifact-store/';

/**
 * The artifacts of workflow runs. A run uploads in a way of its own, for GitHub documents none; here it is a POST to where
 * they are listed.
 * https://docs.github.com/en/rest/actions/artifacts
 *
 * @param kept by their ids; it is live and may be changed
 */
export function createArtifactRoutes(kept: Map<number, KeptArtifact>, clock: () => number) {
  return {
    /** The store is another service: an address is enough, and GitHub's token is refused. */
    fromStore(route: string, authorization: string | undefined): Answer | undefined {
      if (!route.startsWith(`GET ${STORE}`)) return undefined;
      if (authorization) return answerOf({ message: 'InvalidAuthenticationInfo' }, 400);
      const artifact = kept.get(Number(route.slice(`GET ${STORE}`.length)));
      return artifact
        ? { status: 200, body: artifact.archive, headers: { 'content-type': 'application/zip' } }
        : notFound;
    },
    /** @param path below the repository */
    answer(method: string, path: string, query: URLSearchParams, body: Uint8Array, url: string): Answer | undefined {
      const [, run] = /^actions\/runs\/(\d+)\/artifacts$/.exec(path) ?? [];
      if (run && method === 'POST') return upload(Number(run), query.get('name') ?? '', body);
      if (run) return list(Number(run), query, url);
      const [, id] = /^actions\/artifacts\/(\d+)\/zip$/.exec(path) ?? [];
      if (!id) return undefined;
      if (!kept.has(Number(id))) return answerOf({ message: 'Artifact has expired' }, 410);
      return { status: 302, body: '', headers: { location: `${new URL(url).origin}${STORE}${id}` } };
    },
  };

  function upload(runId: number, name: string, archive: Uint8Array): Answer {
    const id = kept.size + 1;
    kept.set(id, { runId, name, archive, createdAt: new Date(clock()).toISOString() });
    return answerOf({ id }, 201);
  }

  function list(runId: number, query: URLSearchParams, url: string): Answer {
    const all = [...kept].flatMap(([id, { name, archive, createdAt: created_at, ...artifact }]) =>
      artifact.runId === runId ? { id, name, size_in_bytes: archive.byteLength, expired: false, created_at } : [],
    );
    const page = pageOf(all, query, url);
    return { ...page, body: { total_count: all.length, artifacts: page.body } };
  }
}
