import { createAppAuth } from '@octokit/auth-app';
import { request as octokitRequest } from '@octokit/request';
import { RequestError } from '@octokit/request-error';
import { Later, Park, StepFailed } from '../jobs/interruption.ts';
import { githubCredentials, type Secrets } from '../secrets/secrets.ts';

/** Where a comment goes. */
export interface CommentPlace {
  /** owner/name */
  repository: string;
  issueNumber: number;
  /** Of a GitHub App's deliveries; without it the App is asked for it. */
  installationId?: number | undefined;
}

/** What became of a comment. */
export type MadeComment = { url: string } | { leftOut: string };

export interface IssueComments {
  /** @returns undefined where the secret has no credentials to comment with */
  for(place: CommentPlace): Promise<
    | {
        /** The comment whose text holds the marker, among the first 300 since then (epoch milliseconds). */
        find(marker: string, since: number): Promise<MadeComment | undefined>;
        make(text: string): Promise<MadeComment>;
      }
    | undefined
  >;
}

const CALL_TIMEOUT_MS = 5_000;
const PAGES = 3;
const PAGE_SIZE = 100;
/** How far GitHub's clock may be from ours. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

export interface IssueCommentsOptions {
  apiUrl: string;
  secrets: Secrets;
  clock: () => number;
  fetch?: typeof globalThis.fetch;
}

/**
 * Comments on issues, as a GitHub App's installation or with a token.
 * https://docs.github.com/en/rest/issues/comments
 */
export function createIssueComments({
  apiUrl,
  secrets,
  clock,
  fetch = globalThis.fetch,
}: IssueCommentsOptions): IssueComments {
  const base = octokitRequest.defaults({
    baseUrl: apiUrl,
    headers: { 'user-agent': 'partner-relay' },
    request: { fetch: withTimeout(fetch) },
  });

  let last: { key: string; auth: ReturnType<typeof createAppAuth> } | undefined;
  /** One for as long as the key is the same: it remembers the installations' tokens. */
  function appAuth(appId: string, privateKey: string) {
    const key = appId + privateKey;
    if (last?.key !== key) last = { key, auth: createAppAuth({ appId, privateKey, request: base }) };
    return last.auth;
  }

  async function authorized({ repository, installationId }: CommentPlace): Promise<typeof base | undefined> {
    const { appId, privateKey, token } = await secrets.current('github', githubCredentials);
    if (token) return base.defaults({ headers: { authorization: `token ${token}` } });
    if (!appId || !privateKey) return undefined;
    const auth = appAuth(appId, privateKey);
    const app = base.defaults({ request: { hook: auth.hook } });
    const [owner = '', repo = ''] = repository.split('/');
    const id = installationId ?? (await app('GET /repos/{owner}/{repo}/installation', { owner, repo })).data.id;
    const installation = await auth({ type: 'installation', installationId: id });
    return base.defaults({ headers: { authorization: `token ${installation.token}` } });
  }

  /** Turns what GitHub refuses into what it means for the job. */
  async function judged<T>(call: () => Promise<T>): Promise<T | { leftOut: string }> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { status, response } = error;
      // Octokit reports a request without an answer as a 500.
      if (!response) throw new StepFailed(`GitHub did not answer: ${error.message}`, { cause: error });
      const { headers } = response;
      if (status === 410) return { leftOut: 'the issue is deleted' };
      if (status === 403 && /locked/i.test(error.message)) return { leftOut: 'the issue is locked' };
      const limited = status === 429 || headers['x-ratelimit-remaining'] === '0' || headers['retry-after'];
      if (limited) throw new Later(rateLimitEnd(headers, clock()), 'GitHub wants fewer requests');
      if (status === 401) secrets.refresh('github');
      if (status >= 500 || status === 401) throw new StepFailed(`GitHub answered ${status}`);
      throw new Park(`GitHub refuses the comment with ${status}: may the App or the token write to issues here?`);
    }
  }

  return {
    async for(place) {
      const { appId, token } = await secrets.current('github', githubCredentials);
      if (!appId && !token) return undefined;
      const [owner = '', repo = ''] = place.repository.split('/');
      const issue = { owner, repo, issue_number: place.issueNumber };
      const request = async () => {
        const ready = await authorized(place);
        if (!ready) throw new Park('the github secret has an appId without a privateKey');
        return ready;
      };
      return {
        find: (marker, since) =>
          judged(async () => {
            const ready = await request();
            for (let page = 1; page <= PAGES; page++) {
              const { data } = await ready('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
                ...issue,
                since: new Date(since - CLOCKS_DIFFER_MS).toISOString(),
                per_page: PAGE_SIZE,
                page,
              });
              const mine = data.find((comment) => comment.body?.includes(marker));
              if (mine) return { url: mine.html_url };
              if (data.length < PAGE_SIZE) return undefined;
            }
            return undefined;
          }),
        make: (text) =>
          judged(async () => {
            const ready = await request();
            const { data } = await ready('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
              ...issue,
              body: text,
            });
            return { url: data.html_url };
          }),
      };
    },
  };
}

function withTimeout(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
function rateLimitEnd(headers: Readonly<Record<string, string | number | undefined>>, now: number): number {
  const seconds = Number(headers['retry-after']);
  if (seconds > 0) return now + seconds * 1000;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return reset > now ? reset : now + 60_000;
}
