import { createServer, type IncomingMessage } from 'node:http';
import { listen } from '../listen.ts';
import { readBody } from '../request-body.ts';
import { type Answer, answerOf, notFound, pageOf } from './answer.ts';
import { answerOfArtifacts, answerOfStore, type KeptArtifacts } from './artifacts.ts';

/** An issue or a pull request, with all other fields of GitHub. */
export interface KnownIssue {
  /** ISO 8601. */
  updated_at: string;
  state?: string | null | undefined;
}

/** A pull request, with all other fields of GitHub. */
export interface KnownPull {
  state?: string | null | undefined;
}

/** A comment by a person. */
export interface WrittenComment {
  body: string;
  user: { login: string; id?: number | undefined } | null;
  /** ISO 8601. */
  created_at: string;
  updated_at: string;
}

/** A comment by the owner of the token. */
export interface MadeComment {
  /** `owner/repo#42` */
  issue: string;
  body: string;
  user: object;
  html_url: string;
  /** Epoch milliseconds. */
  updatedAt: number;
}

/** A check run by the App. */
export interface MadeCheckRun {
  id: number;
  /** `owner/repo` */
  repository: string;
  name: string;
  head_sha: string;
  external_id: string;
  status: string;
  conclusion: string | null;
  output: { title: string; summary: string };
}

/** The state of GitHub. It is live and may be changed. */
export interface GithubKnowledge {
  /** By name, `owner/repo#42`. */
  issues: Map<string, KnownIssue>;
  /** The names of deleted issues, and of transferred issues, with their new names. */
  gone: Map<string, { to?: string }>;
  /** By name, `owner/repo#42`. */
  pulls: Map<string, KnownPull>;
  /** By comment id; null for a deleted comment. Comments that are missing here may not be read. */
  written: Map<number, WrittenComment | null>;
  /** People's roles in all repositories, by login. The default is `read`. */
  roles: Map<string, string>;
  comments: MadeComment[];
  checkRuns: MadeCheckRun[];
  /** By id. */
  artifacts: KeptArtifacts;
  /** The commits that are on no branch. */
  strayCommits: Set<string>;
}

/** A request, with the headers that the stand-in reads. */
export interface GithubRequest {
  method: string | undefined;
  url: URL;
  authorization: string | undefined;
  body: Buffer;
}

/** Its `url` serves the REST API: `http://127.0.0.1:8788`. */
export type GithubStandIn = Awaited<ReturnType<typeof startGithubStandIn>>;

export interface GithubStandInOptions {
  clock: () => number;
  /** Whether a request has a valid token, or a valid JSON web token of the App. */
  isValid: (authorization: string | undefined) => boolean;
  /** The token that the App gets for its JSON web token. */
  installationToken: string;
  /** Called with each new comment. */
  commented?: (comment: MadeComment) => void;
  /** Called with each new or updated check run. */
  checked?: (run: MadeCheckRun) => void;
  /** Called between a request, with a route such as `GET /user`, and its answer. Undefined cuts the connection. */
  between?: Between;
}

type Answered = Answer | undefined;
export type Between = (
  request: GithubRequest & { route: string },
  answer: () => Answered,
) => Answered | Promise<Answered>;

const MAX_BODY_BYTES = 1024 * 1024;
const TOKEN_LIVES_MS = 3_600_000;
const me = { id: 1, login: 'relay', type: 'User' };

/**
 * The part of GitHub's REST API that the relay uses: it reads issues, comments, roles and artifacts, and writes
 * comments and check runs. Built from GitHub's documentation, on 127.0.0.1 only, in memory, and without rate limits.
 * https://docs.github.com/en/rest/issues and https://docs.github.com/en/rest/checks
 */
export async function startGithubStandIn(options: GithubStandInOptions) {
  const server = createServer(async (request, response) => {
    const answered = await answerBody(request).catch((error) => answerOf({ message: String(error) }, 400));
    if (!answered) return response.destroy();
    const headers = { 'content-type': 'application/json', ...answered.headers };
    const { body } = answered;
    return response.writeHead(answered.status, headers).end(body instanceof Uint8Array ? body : JSON.stringify(body));
  });
  const { url, close } = await listen(server);
  const { known, answer } = createGithubStandIn(options, url);
  return { ...known, url, close };

  async function answerBody(request: IncomingMessage): Promise<Answer | undefined> {
    const body = await readBody(request, MAX_BODY_BYTES);
    if (!body) return answerOf({ message: 'Payload Too Large' }, 413);
    const { method, headers } = request;
    return answer({ method, url: new URL(request.url ?? '/', url), authorization: headers.authorization, body });
  }
}

/** The stand-in without a server. @param url for the addresses in its answers */
export function createGithubStandIn(options: GithubStandInOptions, url: string) {
  const { clock, isValid, installationToken, commented, checked, between = (_request, answer) => answer() } = options;
  const known: GithubKnowledge = {
    issues: new Map(),
    gone: new Map(),
    pulls: new Map(),
    written: new Map(),
    roles: new Map(),
    comments: [],
    checkRuns: [],
    artifacts: new Map(),
    strayCommits: new Set(),
  };

  async function answer(request: GithubRequest): Promise<Answered> {
    const { method, url, authorization, body } = request;
    const { pathname, searchParams: query } = url;
    // A GitHub Enterprise Server has its API below this path.
    const route = `${method} ${pathname.replace(/^\/api\/v3/, '')}`;
    const stored = answerOfStore(route, authorization, known.artifacts);
    if (stored) return stored;
    if (!isValid(authorization)) return answerOf({ message: 'Bad credentials' }, 401);
    return between({ ...request, route }, () => answerRoute(route, query, body));
  }

  function answerRoute(route: string, query: URLSearchParams, bytes: Buffer): Answer {
    if (route === 'GET /rate_limit') return answerOf({ resources: {} });
    if (route === 'GET /user') return answerOf(me);
    if (route === 'GET /app') return answerOf({ id: 1 });
    if (/^GET \/(orgs|repos)\/.*\/installation$/.test(route))
      return answerOf({ id: 1, permissions: { checks: 'write', actions: 'read', contents: 'read' } });
    if (route.endsWith('/access_tokens')) {
      return answerOf(
        { token: installationToken, expires_at: new Date(Date.now() + TOKEN_LIVES_MS).toISOString() },
        201,
      );
    }
    const [, method, repository = '', path = ''] = /^(GET|POST|PATCH) \/repos\/([^/]+\/[^/]+)\/(.+)$/.exec(route) ?? [];
    const [, number, ofIssue] = /^issues\/(\d+)(\/comments)?$/.exec(path) ?? [];
    const name = `${repository}#${number}`;
    const body = bytes.toString();
    const at = { method: method ?? '', path, query, url: `${url}/repos/${repository}/${path}` };
    const ofArtifacts = answerOfArtifacts(at, bytes, known.artifacts);
    if (ofArtifacts) return ofArtifacts;
    const [, run] = /^check-runs(?:\/(\d+))?$/.exec(path) ?? [];
    if (path.startsWith('check-runs') && method !== 'GET') return setCheckRun(repository, run, body);
    if (method !== 'GET') return ofIssue ? makeComment(name, body) : notFound;
    if (path.startsWith('branches/')) return answerOf({ commit: { sha: TIP } });
    const [, compared] = /^compare\/[^/]+\.\.\.([^/.]+)$/.exec(path) ?? [];
    if (compared) return answerOf({ status: known.strayCommits.has(compared) ? 'diverged' : 'behind' });
    const [, sha] = /^commits\/([^/]+)\/check-runs$/.exec(path) ?? [];
    if (sha) return checkRunsOf(repository, sha, query);
    if (ofIssue) return pageOf(commentsOf(name, query), query, `${url}/repos/${repository}/${path}`);
    if (path === 'pulls') return pageOf(openPullsOf(repository), query, `${url}/repos/${repository}/${path}`);
    if (path === 'issues') return pageOf(issuesOf(repository, query), query, `${url}/repos/${repository}/${path}`);
    const [, login] = /^collaborators\/([^/]+)\/permission$/.exec(path) ?? [];
    if (login) return answerOf({ permission: 'read', role_name: known.roles.get(decodeURIComponent(login)) ?? 'read' });
    const [, id] = /^issues\/comments\/(\d+)$/.exec(path) ?? [];
    const written = known.written.get(Number(id));
    if (id && written === undefined)
      return answerOf({ message: 'Resource not accessible by personal access token' }, 403);
    if (written) return answerOf(written);
    return answerOfIssue(name);
  }

  /** For a transferred issue, a redirect that the client follows. */
  function answerOfIssue(name: string): Answer {
    const gone = known.gone.get(name);
    if (gone?.to !== undefined) return answerOfIssue(gone.to);
    if (gone) return answerOf({ message: 'This issue was deleted' }, 410);
    const found = known.issues.get(name) ?? [...known.issues].find(([one]) => isSameName(one, name))?.[1];
    return found ? answerOf(found) : notFound;
  }

  /** The issues, in the order of their last change. */
  function issuesOf(repository: string, query: URLSearchParams): KnownIssue[] {
    return [...known.issues]
      .flatMap(([name, issue]) => (isSameName(name.replace(/#\d+$/, ''), repository) ? issue : []))
      .filter(({ state }) => query.get('state') === 'all' || (state ?? 'open') === 'open')
      .filter(({ updated_at }) => Date.parse(updated_at) >= sinceIn(query))
      .sort((a, b) => Date.parse(a.updated_at) - Date.parse(b.updated_at));
  }

  function openPullsOf(repository: string): KnownPull[] {
    return [...known.pulls]
      .flatMap(([name, pull]) => (isSameName(name.replace(/#\d+$/, ''), repository) ? pull : []))
      .filter(({ state }) => (state ?? 'open') === 'open');
  }

  function commentsOf(issue: string, query: URLSearchParams): MadeComment[] {
    return known.comments.filter((comment) => isSameName(comment.issue, issue) && comment.updatedAt >= sinceIn(query));
  }

  function checkRunsOf(repository: string, sha: string, query: URLSearchParams): Answer {
    const name = query.get('check_name');
    const check_runs = known.checkRuns.filter(
      (run) => isSameName(run.repository, repository) && run.head_sha === sha && (name ?? run.name) === run.name,
    );
    return answerOf({ total_count: check_runs.length, check_runs });
  }

  /** @param id of an existing check run; without it, a new one is created */
  function setCheckRun(repository: string, id: string | undefined, body: string): Answer {
    const before = known.checkRuns.find((run) => run.id === Number(id));
    if (id !== undefined && !before) return notFound;
    const run: MadeCheckRun = Object.assign(
      before ?? { id: known.checkRuns.length + 1, repository },
      { conclusion: null },
      JSON.parse(body),
    );
    if (!before) known.checkRuns.push(run);
    checked?.(run);
    return answerOf({ ...run, html_url: `https://github.com/${repository}/runs/${run.id}` }, before ? 200 : 201);
  }

  function makeComment(issue: string, body: string): Answer {
    const html_url = `https://github.com/${issue.replace('#', '/issues/')}#issuecomment-${known.comments.length + 1}`;
    const { body: text } = JSON.parse(body) as { body: string };
    const comment = { issue, body: text, user: me, html_url, updatedAt: clock() };
    known.comments.push(comment);
    commented?.(comment);
    return answerOf(comment, 201);
  }

  return {
    known,
    answer,
    /** Answers as `fetch` does. @throws {TypeError} if the connection is cut */
    async fetch(url: URL, { method = 'GET', headers, body }: RequestInit): Promise<Response> {
      const authorization = new Headers(headers).get('authorization') ?? undefined;
      const answered = await answer({ method, url, authorization, body: Buffer.from(String(body ?? '')) });
      if (!answered) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      const bytes = answered.body instanceof Uint8Array ? Buffer.from(answered.body) : JSON.stringify(answered.body);
      return new Response(bytes, {
        status: answered.status,
        headers: { 'content-type': 'application/json', ...answered.headers },
      });
    },
  };
}

/** The newest commit of every branch. */
const TIP = '0123456789'.repeat(4);

const sinceIn = (query: URLSearchParams) => Date.parse(query.get('since') ?? '1970-01-01');

/** GitHub ignores the case of names. */
const isSameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
