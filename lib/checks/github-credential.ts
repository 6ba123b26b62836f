import { RequestError } from '@octokit/request-error';
import type { GithubClient } from '../platforms/github/github-client.ts';
import { passingFailure } from '../platforms/github/passing-failure.ts';
import { CannotTell, NothingThere, Unanswered, Wrong } from './check.ts';
import type { Credential } from './credential-check.ts';

/**
 * Checks GitHub: the App itself, and the credentials for comments, which are a token or the App's installations.
 *
 * @param github null without credentials; a stand-in then takes the place of GitHub
 * @param repositories the configured repositories
 */
export function githubCredential(github: GithubClient | null, repositories: readonly { name: string }[]): Credential {
  // An installation belongs to an account and has one token for all of its repositories.
  const oneOfEachAccount = [...new Map(repositories.map(({ name }) => [name.split('/', 1)[0], name])).values()];

  async function use(): Promise<string> {
    if (!github) throw new NothingThere('a stand-in takes the place of GitHub; set GITHUB_TOKEN to check more');
    if (!(await github.isThere())) throw new NothingThere('the secret has neither an App nor a token');
    const app = await github.asApp();
    await app?.request('GET /app');
    for (const repository of oneOfEachAccount) {
      const authorized = await github.at({ repository });
      if (!authorized) throw new Wrong('the secret has an appId without a privateKey');
      await authorized.request('GET /rate_limit').catch(unlessWithoutLimits);
    }
    return 'GitHub accepts the credentials in the secret';
  }

  return {
    what: 'github: credentials',
    secret: 'github',
    metric: 'GithubCredentialsFail',
    look: () => use().catch(inWords),
  };
}

/**
 * Accepts the 404 of a GitHub Enterprise Server without rate limits, which answers 401 for unknown credentials. Reading
 * the rate limit does not count against it.
 * https://docs.github.com/en/rest/rate-limit/rate-limit
 */
function unlessWithoutLimits(error: unknown): void {
  if (!(error instanceof RequestError && error.status === 404)) throw error;
}

function inWords(error: unknown): never {
  if (!(error instanceof RequestError)) throw error;
  const { status, message, request, response } = error;
  const asked = `${request.method} ${request.url}`;
  const passing = passingFailure(error, Date.now());
  if (passing?.limitedUntil !== undefined) throw new CannotTell(passing.why);
  if (status === 404 && new URL(request.url).pathname.endsWith('/installation'))
    throw new Wrong(`the GitHub App is not installed there: GitHub answers ${asked} with 404`);
  const answer = response ? `answers ${asked} with ${status}` : `did not answer ${asked}`;
  throw new (passing ? Unanswered : Wrong)(`GitHub ${answer}: ${message}`);
}
