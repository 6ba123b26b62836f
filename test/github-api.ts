import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Comment {
  issue: string;
  body: string;
  user: object;
  performed_via_github_app: object | null;
  html_url: string;
  /** Epoch milliseconds. */
  updatedAt: number;
}

/** GitHub's issues and the comments on them, at the wire: enough of the REST API to see what the relay asks of it. */
export interface GithubApi {
  url: string;
  comments: Comment[];
  /** By their names, `owner/repo#42`. */
  issues: Map<string, object>;
  /** How many pages of issues were asked for. */
  lists: number;
  /** What people wrote, by the id of the comment; null for one that is deleted. Others may not be read. */
  written: Map<number, string | null>;
  /** Who wrote it, and when, and when it was last edited. */
  author: string;
  writtenAt: string;
  editedAt: string | undefined;
  /** What is answered instead, as long as it is set; `'after the work'` loses the answer of a comment that was made,
   * `'instead of the work'` that of one that was not. */
  refusal:
    | { status: number; message: string; headers?: Record<string, string> }
    | 'after the work'
    | 'instead of the work'
    | undefined;
  authorizations: Set<string | undefined>;
  /** The roles of people in every repository, by login; without one they have `read`. Undefined: none may be asked for. */
  roles: Map<string, string> | undefined;
  /** Whose the credentials are. */
  me: object;
  close(): Promise<void>;
}

/** A page of a list, and the header with the address of the next one. */
function pageOf<T>(all: readonly T[], query: URLSearchParams, url: string) {
  const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 30)];
  const next = new URLSearchParams(query);
  next.set('page', String(page + 1));
  const link: Record<string, string> = all.length > page * size ? { link: `<${url}?${next}>; rel="next"` } : {};
  return { page: all.slice((page - 1) * size, page * size), link };
}

const commentOf = ({ author, writtenAt, editedAt = writtenAt }: GithubApi) => ({
  user: { login: author },
  created_at: writtenAt,
  updated_at: editedAt,
});

export async function startGithubApi(clock: () => number): Promise<GithubApi> {
  /** The issues of a repository, in the order of their last change. */
  function issuesOf(repository: string, query: URLSearchParams): { updated_at: string }[] {
    const named = [...api.issues].filter(([name]) => name.startsWith(`${repository}#`));
    const all = named.map(([, issue]) => issue as { updated_at: string; state?: string });
    const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
    return all
      .filter(({ state = 'open' }) => query.get('state') === 'all' || state === 'open')
      .filter(({ updated_at }) => Date.parse(updated_at) >= since)
      .sort((a, b) => Date.parse(a.updated_at) - Date.parse(b.updated_at));
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://github');
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    api.authorizations.add(request.headers.authorization);
    const { refusal } = api;
    if (typeof refusal === 'object') {
      return answer(refusal.status, { message: refusal.message }, refusal.headers);
    }
    if (pathname.endsWith('/installation')) return answer(200, { id: 77 });
    if (pathname.endsWith('/access_tokens')) {
      return answer(201, { token: 'ghs_installation', expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    }
    const read = /^\/repos\/[^/]+\/[^/]+\/issues\/comments\/(\d+)$/.exec(pathname);
    if (read) {
      const body = api.written.get(Number(read[1]));
      if (body === undefined) return answer(403, { message: 'Resource not accessible by personal access token' });
      return body === null ? answer(404, { message: 'Not Found' }) : answer(200, { body, ...commentOf(api) });
    }
    if (pathname === '/user') return answer(200, api.me);
    const asked = /\/collaborators\/([^/]+)\/permission$/.exec(pathname);
    if (asked && !api.roles) return answer(403, { message: 'Must have push access to view collaborator permission.' });
    if (asked) return answer(200, { permission: 'read', role_name: api.roles?.get(asked[1] ?? '') ?? 'read' });
    const wanted = /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)$/.exec(pathname);
    const found = wanted && api.issues.get(`${wanted[1]}#${wanted[2]}`);
    if (found) return answer(200, found);
    const listed = /^\/repos\/([^/]+\/[^/]+)\/issues$/.exec(pathname);
    if (listed) {
      api.lists++;
      const { page, link } = pageOf(issuesOf(listed[1] ?? '', searchParams), searchParams, `${api.url}${pathname}`);
      return answer(200, page, link);
    }
    const issue = /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)\/comments$/.exec(pathname);
    if (!issue) return answer(404, { message: 'Not Found' });
    const name = `${issue[1]}#${issue[2]}`;
    if (request.method === 'GET') {
      const since = Date.parse(searchParams.get('since') ?? '1970-01-01');
      const all = api.comments.filter((comment) => comment.issue === name && comment.updatedAt >= since);
      const { page, link } = pageOf(all, searchParams, `${api.url}${pathname}`);
      return answer(200, page, link);
    }
    if (refusal === 'instead of the work') return response.destroy();
    const { body } = (await json(request)) as { body: string };
    const byApp = request.headers.authorization?.includes('ghs_') ? { id: 12 } : null;
    const user = byApp ? { id: 2, login: 'relay[bot]', type: 'Bot' } : api.me;
    const written = { body, user, performed_via_github_app: byApp };
    const comment = { issue: name, ...written, html_url: `https://github.com/${name}`, updatedAt: clock() };
    api.comments.push(comment);
    if (refusal === 'after the work') return response.destroy();
    return answer(201, comment);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const api: GithubApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    comments: [],
    issues: new Map(),
    lists: 0,
    written: new Map(),
    author: 'Codertocat',
    writtenAt: '2026-11-20T09:59:58Z',
    editedAt: undefined,
    refusal: undefined,
    authorizations: new Set(),
    roles: new Map(),
    me: { id: 1, login: 'relay', type: 'User' },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
}
