import { RequestError } from '@octokit/request-error';
import type { GithubClient } from '../platforms/github/github-client.ts';
import { passingFailure } from '../platforms/github/passing-failure.ts';
import { SecretError } from '../state/secrets/secrets.ts';
import type { CheckResult, Credential } from './credential-check.ts';

export interface GithubCredentialOptions {
  github: GithubClient;
  /** The configured repositories, as owner/name. */
  repositories: readonly string[];
  clock: () => number;
}

/** Checks GitHub: the App itself, and the credentials for comments, which are a token or the App's installations. */
export function createGithubCredential({ github, repositories, clock }: GithubCredentialOptions): Credential {
  // An installation belongs to an account and has one token for all of its repositories.
  const oneOfEachAccount = [...new Map(repositories.map((name) => [name.split('/', 1)[0], name])).values()];

  async function use(): Promise<CheckResult> {
    if (!(await github.isThere())) return { verdict: 'skipped', why: 'the secret has neither an App nor a token' };
    const app = await github.asApp();
    await app?.request('GET /app');
    for (const repository of oneOfEachAccount) {
      const authorized = await github.at({ repository });
      if (!authorized) return { verdict: 'bad', why: 'the secret has an appId without a privateKey' };
      await authorized.request('GET /rate_limit').catch(unlessWithoutLimits);
    }
    return { verdict: 'good', why: 'GitHub accepts the credentials in the secret' };
  }

  return {
    name: 'github',
    metric: 'GithubCredentialsFail',
    async check() {
      try {
        return await use();
      } catch (error) {
        if (error instanceof SecretError) return { verdict: 'bad', why: error.message };
        if (error instanceof RequestError) return findingOf(error, clock());
        throw error;
      }
    },
  };
}

/**
 * Reading the rate limit does not count against it. A GitHub Enterprise Server without rate limits answers 404, but 401
 * for unknown credentials. https://docs.github.com/en/rest/rate-limit/rate-limit
 */
function unlessWithoutLimits(error: unknown): void {
  if (!(error instanceof RequestError && error.status === 404)) throw error;
}

function findingOf(error: RequestError, now: number): CheckResult {
  const { status, message, request, response } = error;
  const asked = `${request.method} ${request.url}`;
  const passing = passingFailure(error, now);
  if (passing?.limitedUntil !== undefined) return { verdict: 'unknown', why: passing.why };
  const { pathname } = new URL(request.url);
  if (status === 404 && pathname.endsWith('/installation'))
    return { verdict: 'bad', why: `the GitHub App is not installed there: GitHub answers ${asked} with 404` };
  const answer = response ? `answers ${asked} with ${status}` : `did not answer ${asked}`;
  return { verdict: passing ? 'unanswered' : 'bad', why: `GitHub ${answer}: ${message}` };
}
