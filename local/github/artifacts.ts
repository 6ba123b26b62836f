import { type Answer, answerOf, notFound, pageOf } from './answer.ts';

/** An artifact that a workflow run uploaded. */
export interface KeptArtifact {
  runId: number;
  name: string;
  /** ISO 8601. */
  createdAt: string;
  archive: Uint8Array;
}

export type KeptArtifacts = Map<number, KeptArtifact>;

/**
 * Answers as the store of artifacts, which is another service: the address is enough, and GitHub's token is refused.
 */
export function answerOfStore(route: string, authorization: string | undefined, kept: KeptArtifacts) {
  const [, id] = /^GET \/artifact-store\/(\d+)$/.exec(route) ?? [];
  if (id === undefined) return undefined;
  const artifact = kept.get(Number(id));
  if (!artifact || authorization) return answerOf({ message: 'InvalidAuthenticationInfo' }, artifact ? 400 : 404);
  return { status: 200, body: artifact.archive, headers: { 'content-type': 'application/zip' } };
}

/**
 * The artifacts of a repository. GitHub documents no way to upload one, so a POST of our own does.
 * https://docs.github.com/en/rest/actions/artifacts
 *
 * @param path of the route, below the repository
 */
export function answerOfArtifacts(
  { method, path, query, url }: { method: string; path: string; query: URLSearchParams; url: string },
  archive: Uint8Array,
  kept: KeptArtifacts,
): Answer | undefined {
  const [, run, id] = /^actions\/(?:runs\/(\d+)\/artifacts|artifacts\/(\d+)\/zip)$/.exec(path) ?? [];
  if (id)
    return kept.has(Number(id)) ? { ...answerOf('', 302), headers: { location: `/artifact-store/${id}` } } : notFound;
  if (!run) return undefined;
  const runId = Number(run);
  if (method === 'POST') {
    kept.set(kept.size + 1, { runId, name: query.get('name') ?? '', createdAt: new Date().toISOString(), archive });
    return answerOf({}, 201);
  }
  const all = [...kept].flatMap(([id, { name, createdAt: created_at, ...one }]) =>
    one.runId === runId ? { id, name, size_in_bytes: one.archive.byteLength, expired: false, created_at } : [],
  );
  const page = pageOf(all, query, url);
  return { ...page, body: { total_count: all.length, artifacts: page.body } };
}
