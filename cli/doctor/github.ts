import { RequestError } from '@octokit/request-error';
import { CannotTell, type Check, type Checks, check } from '../../lib/checks/check.ts';
import { githubCredential } from '../../lib/checks/github-credential.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import {
  type AuthorizedGithub,
  type GithubClient,
  type GithubRequest,
  ownerAndRepo,
} from '../../lib/platforms/github/github-client.ts';
import { haveSameOwner, type MovedRepository, movedInWords } from '../../lib/platforms/github/moved-repositories.ts';
import { githubWebhookSecret, type Secrets } from '../../lib/state/secrets/secrets.ts';
import { enumerated, messageOf } from '../../lib/text.ts';
import { compareStrength } from './finding.ts';

export interface GithubToCheck {
  config: RelayConfig;
  secrets: Secrets;
  github: GithubClient;
  /** The stand-in has no repositories or labels to compare with. */
  isStandIn: boolean;
  /** The repositories that events call by another name than relay.config.ts does. */
  moved: readonly MovedRepository[];
}

type Repository = RelayConfig['github']['repositories'][number];

/** Checks the webhook secret, the credentials, and every configured repository with its labels. */
export function githubChecks({ config, secrets, github, isStandIn, moved }: GithubToCheck): Checks {
  const { repositories } = config.github;
  if (repositories.length === 0) return [];
  return [
    check('github: webhook secret', async () => {
      const { webhookSecret } = await secrets.current('github-webhook', githubWebhookSecret);
      compareStrength({ by: 'hmac' }, [webhookSecret]);
      return 'it is set';
    }),
    {
      ...githubCredential(isStandIn ? null : github, repositories),
      // The credentials may work for one repository and not for another.
      next: (verdict) => (verdict === 'unknown' ? [] : repositories.map((one) => repositoryCheck(one, github, moved))),
    },
  ];
}

/** Checks which repositories have a new name. Unreadable repositories are left out. */
export function nameChecks({ github: { repositories } }: RelayConfig, github: GithubClient): Check[] {
  return repositories.map(({ name }) =>
    check(`github: ${name}`, async () => {
      const authorized = await github.at({ repository: name }).catch(() => undefined);
      const answer = await authorized?.request('GET /repos/{owner}/{repo}', ownerAndRepo(name)).catch(() => undefined);
      if (answer) ensureSameName(name, answer.data.full_name, []);
      return 'it has no other name';
    }),
  );
}

/**
 * Checks the name of a repository. @throws {Error | CannotTell} if GitHub has another name for it, or another
 * repository has its name
 */
function ensureSameName(name: string, calledNow: string, known: readonly MovedRepository[]): void {
  const event = known.find((one) => one.name === name && one.calledNow.toLowerCase() === calledNow.toLowerCase());
  if (!event && calledNow.toLowerCase() === name.toLowerCase()) return;
  const moved = event ?? { name, calledNow, isRenamed: haveSameOwner(name, calledNow) };
  throw new (moved.isRenamed ? CannotTell : Error)(movedInWords(moved));
}

function repositoryCheck(
  { name, issueToDefect, checkPullRequest, tests }: Repository,
  github: GithubClient,
  moved: readonly MovedRepository[],
): Check {
  let authorized: AuthorizedGithub | undefined;
  return check(
    `github: ${name}`,
    async () => {
      ensureSameName(name, name, moved);
      authorized = await github.at({ repository: name }).catch(inWords);
      if (!authorized) throw new Error('the secret has an appId but no privateKey');
      const { data } = await authorized.request('GET /repos/{owner}/{repo}', ownerAndRepo(name)).catch(inWords);
      ensureSameName(name, data.full_name, moved);
      if (data.archived) throw new Error('the repository is archived, so it sends no events');
      if (issueToDefect && !data.has_issues)
        throw new Error('issueToDefect is set, but issues are turned off in the repository');
      return `reached as ${authorized.as}`;
    },
    (verdict) => {
      const { request } = authorized ?? {};
      if (!request || verdict !== 'good') return [];
      return [
        issueToDefect && check(`github: labels of ${name}`, () => compareLabels(issueToDefect, name, request)),
        checkPullRequest && check(`github: checks of ${name}`, () => mayWriteChecks(name, github)),
        tests && check(`github: tests of ${name}`, () => mayReadTests(name, github)),
      ];
    },
  );
}

/** A required check that cannot be written blocks every pull request. */
async function mayWriteChecks(repository: string, github: GithubClient): Promise<string> {
  const { permissions, events } = await installationAt(repository, github);
  const missing = ['pull_request', 'check_run', 'merge_group'].filter((event) => !events.includes(event));
  if (permissions.checks !== 'write') {
    throw new Error(
      'the App may not write checks: give it the repository permission Checks (read and write), and accept it for the installation',
    );
  }
  if (missing.length > 0) throw new CannotTell(`the App does not receive ${missing.join(', ')}; subscribe it to them`);
  return 'the App may write them';
}

/** Checks the permissions to read artifacts and branches, and to write checks. */
async function mayReadTests(repository: string, github: GithubClient): Promise<string> {
  const { permissions, events } = await installationAt(repository, github);
  const missing = [
    ...(permissions.actions ? [] : ['the permission "Actions: read"']),
    ...(permissions.contents ? [] : ['the permission "Contents: read"']),
    ...(permissions.checks === 'write' ? [] : ['the permission "Checks: write"']),
    ...(events.includes('workflow_run') ? [] : ['the event "Workflow run"']),
  ];
  if (missing.length === 0) return 'the App may read artifacts and branches, write checks, and gets workflow runs';
  throw new Error(`the App lacks ${enumerated(missing)}: add it in its settings, and accept it where it is installed`);
}

async function installationAt(repository: string, github: GithubClient) {
  const app = await github.asApp();
  if (!app) throw new Error('GitHub takes checks from a GitHub App only, and the github secret has none');
  return (await app.request('GET /repos/{owner}/{repo}/installation', ownerAndRepo(repository)).catch(inWords)).data;
}

async function compareLabels(
  { labels, type, priority, severity }: NonNullable<Repository['issueToDefect']>,
  repository: string,
  request: AuthorizedGithub['request'],
): Promise<string> {
  const named = new Set([...labels, ...[type, priority, severity].flatMap((field) => Object.keys(field.labels))]);
  const missing: string[] = [];
  for (const label of named) {
    const exists = await request('GET /repos/{owner}/{repo}/labels/{name}', {
      ...ownerAndRepo(repository),
      name: label,
    }).then(
      () => true,
      (error) => (error instanceof RequestError && error.status === 404 ? false : inWords(error)),
    );
    if (!exists) missing.push(label);
  }
  if (missing.length === 0) return [...named].join(', ');
  if (labels.every((label) => missing.includes(label))) {
    throw new Error(`the repository has no label ${labels.join(' or ')}: no issue can become a defect`);
  }
  throw new CannotTell(
    `the repository has no label ${missing.join(', ')}; create it, or remove it from relay.config.ts`,
  );
}

/** GitHub also answers 404 for things that the caller may not see. */
function inWords(error: unknown): never {
  if (!(error instanceof RequestError)) throw error;
  const { status, message, request, response } = error;
  const asked = `${request.method} ${new URL(request.url).pathname}`;
  if (!response) throw new CannotTell(`GitHub did not answer ${asked}: ${message}`);
  const hint = status === 404 ? '; check the name, and that the App is installed there or the token has access' : '';
  throw new Error(`GitHub answers ${asked} with ${status}: ${message}${hint}`);
}

/**
 * Compares the logins in `people` with the ids of their accounts. GitHub gives a free login to anyone who asks, so only
 * the id identifies a person.
 *
 * @param github undefined without credentials, or if it is the stand-in
 */
export async function idChecks(config: RelayConfig, github: GithubClient | undefined): Promise<Check[]> {
  const [repository] = config.github.repositories;
  if (!repository || config.people.every((one) => one.github === undefined)) return [];
  const authorized = await github?.at({ repository: repository.name }).catch(() => undefined);
  return config.people.flatMap(({ github: login, githubId }, index) =>
    login === undefined ? [] : check(`github: people.${index}`, () => compareId(login, githubId, authorized?.request)),
  );
}

const WHY =
  'it has no githubId: if the account is renamed, another person can register its login, and the relay takes them for this one';

async function compareId(login: string, id: number | undefined, request: GithubRequest | undefined): Promise<string> {
  if (!request && id !== undefined) throw new CannotTell(`${id} is not compared, because there is no GITHUB_TOKEN`);
  if (!request)
    throw new CannotTell(`${WHY}; find the id at https://api.github.com/users/${login}, or set GITHUB_TOKEN`);
  const { data } = await (id === undefined
    ? request('GET /users/{username}', { username: login })
    : request('GET /user/{account_id}', { account_id: id })
  ).catch(idInWords);
  if (id === undefined) throw new CannotTell(`${WHY}; paste: github: '${data.login}', githubId: ${data.id},`);
  if (data.login.toLowerCase() === login.toLowerCase()) return `${login} is the account ${id}`;
  throw new Error(
    `the account ${id} is ${data.login} now, and not ${login}; paste: github: '${data.login}', githubId: ${id},`,
  );
}

function idInWords(error: unknown): never {
  if (error instanceof RequestError && error.status === 404) throw new Error('GitHub has no such account');
  throw new CannotTell(`GitHub did not return the id: ${messageOf(error)}`);
}
