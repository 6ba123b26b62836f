import { RequestError } from '@octokit/request-error';
import type { RelayConfig } from '../../lib/config/schema.ts';
import type { GithubClient, GithubRequest } from '../../lib/platforms/github/github-client.ts';
import { messageOf } from '../../lib/text.ts';
import { CannotTell, check, type Finding } from './finding.ts';

/**
 * Compares the logins in `people` with the ids of their accounts. GitHub gives a login that becomes free to anyone who asks
 * for it, so only the id says who it is.
 *
 * @param github undefined if there is no GitHub to ask
 */
export async function checkGithubIds(config: RelayConfig, github: GithubClient | undefined): Promise<Finding[]> {
  const [repository] = config.github.repositories;
  const named = config.people.flatMap(({ github: login, githubId }, index) =>
    login === undefined ? [] : [{ login, githubId, what: `github: people.${index}` }],
  );
  if (!repository || named.length === 0) return [];
  const authorized = await github?.at({ repository: repository.name }).catch(() => undefined);
  return Promise.all(
    named.map(({ what, login, githubId }) => check(what, () => compare(login, githubId, authorized?.request))),
  );
}

const WHY = 'without githubId, another person who takes over this login is taken for this one';

async function compare(login: string, id: number | undefined, request: GithubRequest | undefined): Promise<string> {
  if (!request && id !== undefined) throw new CannotTell(`${id} is not compared, because GitHub cannot be asked`);
  if (!request)
    throw new CannotTell(`${WHY}; GitHub says it at https://api.github.com/users/${login}, or here with GITHUB_TOKEN`);
  const { data } = await (id === undefined
    ? request('GET /users/{username}', { username: login })
    : request('GET /user/{account_id}', { account_id: id })
  ).catch(inWords);
  if (id === undefined) throw new CannotTell(`${WHY}; paste: github: '${data.login}', githubId: ${data.id},`);
  if (data.login.toLowerCase() === login.toLowerCase()) return `${login} is the account ${id}`;
  throw new Error(
    `the account ${id} is ${data.login} now, and not ${login}; paste: github: '${data.login}', githubId: ${id},`,
  );
}

function inWords(error: unknown): never {
  if (error instanceof RequestError && error.status === 404) throw new Error('GitHub has no such account');
  throw new CannotTell(`GitHub does not tell the id: ${messageOf(error)}`);
}
