import { createAppAuth } from '@octokit/auth-app';
import { request as octokitRequest } from '@octokit/request';
import { RequestError } from '@octokit/request-error';
import * as z from 'zod/mini';
import { SecretError, type Secrets } from '../../state/secrets/secrets.ts';
import { PlatformRateLimited, PlatformUnanswered } from '../errors.ts';
import { passingFailure } from './passing-failure.ts';

/** The `github` secret: an App's key or a token. Without both, the relay writes no comments. */
export const githubCredentials = z.object({
  appId: z.optional(z.coerce.string()),
  privateKey: z.optional(z.string()),
  token: z.optional(z.string()),
});

export type GithubRequest = typeof octokitRequest;

/**
 * Sends requests with the credentials of an App or a person. If GitHub refuses one, it throws a RequestError of
 * `@octokit/request-error`.
 */
export interface AuthorizedGithub {
  /** The account whose rate limit counts: `token`, `app 12` or `installation 77`. */
  as: string;
  request: GithubRequest;
  /** The App's id, for an installation. */
  appId?: string;
}

export interface RepositoryAddress {
  /** `owner/name` */
  repository: string;
  /** Present in deliveries of a GitHub App. Without it, the relay asks the App for it. */
  installationId?: number | undefined;
}

/**
 * GitHub refuses the request, or the secret lacks the necessary credentials. The message says what an operator can do.
 */
export class GithubRefusal extends Error {
  override readonly name = 'GithubRefusal';
}

/** The repository or organization of a request. */
export type GithubPlace = RepositoryAddress | { organization: string };

/**
 * GitHub's REST API with the current content of the `github` secret. Every method throws a SecretError if the secret
 * cannot be used.
 */
export interface GithubClient {
  /** Returns true if the secret has a token or an App, even an incomplete one. */
  isThere(): Promise<boolean>;
  /**
   * Sends requests as the App itself, with its JWT.
   * @returns undefined if the secret has no complete App
   */
  asApp(): Promise<(AuthorizedGithub & { appId: string }) | undefined>;
  /**
   * Sends requests with the token, or as the App's installation in that place. Prefers the token unless `by` is set.
   * @returns undefined if the secret lacks these credentials, or part of them
   */
  at(place: GithubPlace, by?: 'token' | 'app'): Promise<AuthorizedGithub | undefined>;
  /**
   * Sends requests.
   *
   * @param refused returns the result for a refusal that would happen again
   * @throws {PlatformRateLimited}
   * @throws {PlatformUnanswered} also for 401 and 5xx
   */
  ask<T>(requests: () => Promise<T>, refused: (refusal: RequestError) => T): Promise<T>;
  /** Reads the secret again, because GitHub refuses the credentials, which may have been rotated. */
  suspectCredentials(): void;
}

export interface GithubClientOptions {
  /** Such as `https://api.github.com`. */
  apiUrl: string;
  secrets: Secrets;
  fetch: typeof globalThis.fetch;
  clock: () => number;
}

/**
 * GitHub itself ends requests that take longer.
 * https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts
 */
const TIMEOUT_MS = 10_000;

/** https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api */
export function createGithubClient({ apiUrl, secrets, fetch, clock }: GithubClientOptions): GithubClient {
  const base = octokitRequest.defaults({
    baseUrl: apiUrl,
    headers: { 'user-agent': 'partner-relay' },
    request: { fetch: withTimeout(fetch) },
  });
  const credentials = () => secrets.current('github', githubCredentials);
  const suspectCredentials = () => void secrets.refresh('github');

  let last: { key: string; auth: ReturnType<typeof createAppAuth> } | undefined;
  /** Created once per key, because it caches the installations' tokens. */
  function appAuth(appId: string, privateKey: string) {
    const key = appId + privateKey;
    if (last?.key !== key) last = { key, auth: createAppAuth({ appId, privateKey, request: base }) };
    return last.auth;
  }

  async function app() {
    const { appId, privateKey } = await credentials();
    if (!appId || !privateKey) return undefined;
    const auth = appAuth(appId, privateKey);
    try {
      await auth({ type: 'app' });
    } catch {
      // The library's error is not passed on, because it may quote the key.
      throw new SecretError('nothing can be signed with the privateKey of the github secret: enter the whole PEM file');
    }
    return { appId, auth, request: base.defaults({ request: { hook: auth.hook } }) };
  }

  return {
    async isThere() {
      const { appId, token } = await credentials();
      return Boolean(appId || token);
    },
    async asApp() {
      const own = await app();
      return own && { as: `app ${own.appId}`, appId: own.appId, request: own.request };
    },
    async at(place, by) {
      const { token } = await credentials();
      if (token && by !== 'app') return { as: 'token', request: withToken(base, token) };
      if (by === 'token') return undefined;
      const own = await app();
      if (!own) return undefined;
      const id = await installationAt(place, own.request);
      const installation = await own.auth({ type: 'installation', installationId: id });
      return { as: `installation ${id}`, appId: own.appId, request: withToken(base, installation.token) };
    },
    async ask(requests, refused) {
      try {
        return await requests();
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const now = clock();
        const passing = passingFailure(error, now);
        if (passing?.limitedUntil !== undefined) throw new PlatformRateLimited(passing.why, passing.limitedUntil - now);
        if (passing) throw new PlatformUnanswered(passing.why, { cause: error });
        if (error.status !== 401) return refused(error);
        suspectCredentials();
        throw new PlatformUnanswered('GitHub answered 401');
      }
    },
    suspectCredentials,
  };
}

/** https://docs.github.com/en/rest/apps/apps */
async function installationAt(place: GithubPlace, app: GithubRequest): Promise<number> {
  if ('organization' in place) {
    return (await app('GET /orgs/{org}/installation', { org: place.organization })).data.id;
  }
  if (place.installationId !== undefined) return place.installationId;
  return (await app('GET /repos/{owner}/{repo}/installation', ownerAndRepo(place.repository))).data.id;
}

/** Splits `owner/name` into the parameters of the REST API's paths. */
export function ownerAndRepo(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}

function withToken(base: GithubRequest, token: string): GithubRequest {
  return base.defaults({ headers: { authorization: `token ${token}` } });
}

function withTimeout(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Parameters of a GET, such as `{ per_page: 100, page: 2 }`. */
export type Query = Readonly<Record<string, string | number>>;

/**
 * Reads the pages of a list, with one request each.
 *
 * @param get sends the request for one page
 * @param first the parameters of the first page; each answer contains the parameters of the next page @see
 *   https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers
 */
export async function* pagesOf<T>(
  get: (query: Query) => Promise<{ data: T; headers: { link?: string | undefined } }>,
  first: Query,
): AsyncGenerator<{ data: T; isLast: boolean }> {
  for (let query: Query | undefined = first; query; ) {
    const { data, headers } = await get(query);
    const next: string | undefined = /<([^>]+)>;\s*rel="next"/.exec(headers.link ?? '')?.[1];
    query = next === undefined ? undefined : Object.fromEntries(new URL(next).searchParams);
    yield { data, isLast: query === undefined };
  }
}
