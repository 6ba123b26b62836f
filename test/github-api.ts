import { type Answer, answerOf, notFound } from '../local/github/answer.ts';
import { type Between, type GithubStandIn, startGithubStandIn } from '../local/github/stand-in.ts';
import { claimsOf } from './github-identity.ts';
import { closeLater } from './opened.ts';

/** GitHub's stand-in, with an App and with failures. */
export interface GithubApi
  extends Pick<GithubStandIn, 'url' | 'pulls' | 'comments' | 'checkRuns' | 'artifacts' | 'strayCommits' | 'close'> {
  /** By name, `owner/repo#42`. */
  issues: Map<string, object>;
  /** People's comments by id; null for a deleted comment. Comments that are missing here may not be read. */
  written: Map<number, string | null>;
  /** The author of the comments, and when they were written and last edited. */
  author: string;
  authorIs: { id: number; type: 'User' | 'Bot' };
  writtenAt: string;
  editedAt: string | undefined;
  /**
   * The answer to every request while it is set. `'after the work'` loses the answer about a comment or check that was
   * made, `'instead of the work'` the answer about one that was not.
   */
  refusal:
    | { status: number; message: string; headers?: Record<string, string> }
    | 'after the work'
    | 'instead of the work'
    | undefined;
  /** The answers to the next requests, in order; `cut` gives none. */
  failures: ({ status: number; headers?: Record<string, string> } | 'cut')[];
  /** Known tokens besides the App's. Undefined: any token, and any signature of the App. */
  tokens: Set<string> | undefined;
  /** The accounts where the App is installed; undefined: all. */
  installedAt: Set<string> | undefined;
  /** Each request, such as `GET /app`, and its authorization. */
  requests: string[];
  authorizations: Set<string | undefined>;
  /** People's roles in every repository, by login. The default is `read`. Undefined: the App may not read roles. */
  roles: Map<string, string> | undefined;
}

const INSTALLATION_TOKEN = 'ghs_installation';
const BOT = { user: { id: 2, login: 'relay[bot]', type: 'Bot' }, performed_via_github_app: { id: 12 } };

/** @param inFront notes each request, and answers requests that must not reach the stand-in */
export async function startGithubApi(clock: () => number, inFront?: Between): Promise<GithubApi> {
  const standIn = await startGithubStandIn({
    clock,
    isValid: () => true,
    installationToken: INSTALLATION_TOKEN,
    between(request, answer) {
      const answerNow = () => underFaults(request, answer);
      if (inFront) return inFront(request, answerNow);
      api.requests.push(request.route);
      return answerNow();
    },
  });

  function underFaults(...[{ route, authorization }, answer]: Parameters<Between>): Answer | undefined {
    api.authorizations.add(authorization);
    const { refusal } = api;
    const failure = api.failures.shift();
    if (failure) return failure === 'cut' ? undefined : { body: { message: 'Not now' }, ...failure };
    if (!isKnown(route, authorization)) return answerOf({ message: 'Bad credentials' }, 401);
    if (typeof refusal === 'object') return { ...refusal, body: { message: refusal.message } };
    const [, account] = /^GET \/repos\/([^/]+)\/[^/]+\/installation$/.exec(route) ?? [];
    if (account && api.installedAt?.has(account) === false) return notFound;
    if (account) return answerOf({ id: 77 });
    if (!api.roles && route.endsWith('/permission'))
      return answerOf({ message: 'Must have push access to view collaborator permission.' }, 403);
    takeOver();
    if (!/^(POST .*\/(comments|check-runs)|PATCH .*)$/.test(route)) return answer();
    if (refusal === 'instead of the work') return undefined;
    const made = answer();
    if (route.endsWith('/comments') && authorization?.includes('ghs_'))
      Object.assign(standIn.comments.at(-1) ?? {}, BOT);
    return refusal === 'after the work' ? undefined : made;
  }

  function isKnown(route: string, authorization = ''): boolean {
    if (!api.tokens) return true;
    if (/\/(app|installation|access_tokens)$/.test(route)) return claimsOf(authorization) !== undefined;
    return [...api.tokens, INSTALLATION_TOKEN].includes(authorization.replace(/^token /, ''));
  }

  /** Applies the test's settings. */
  function takeOver(): void {
    const { author, authorIs, writtenAt, editedAt = writtenAt } = api;
    const about = { user: { login: author, ...authorIs }, created_at: writtenAt, updated_at: editedAt };
    const written = [...api.written].map(([id, body]) => [id, body === null ? null : { body, ...about }] as const);
    standIn.written.clear();
    for (const [id, comment] of written) standIn.written.set(id, comment);
    standIn.roles.clear();
    for (const [login, role] of api.roles ?? []) standIn.roles.set(login, role);
  }

  const api: GithubApi = {
    url: standIn.url,
    pulls: standIn.pulls,
    comments: standIn.comments,
    checkRuns: standIn.checkRuns,
    artifacts: standIn.artifacts,
    strayCommits: standIn.strayCommits,
    issues: standIn.issues as Map<string, object>,
    written: new Map(),
    author: 'Codertocat',
    authorIs: { id: 21_031_067, type: 'User' },
    writtenAt: '2026-11-20T09:59:58Z',
    editedAt: undefined,
    refusal: undefined,
    failures: [],
    tokens: undefined,
    installedAt: undefined,
    requests: [],
    authorizations: new Set(),
    roles: new Map(),
    close: standIn.close,
  };
  closeLater(api.close);
  return api;
}
