import { RequestError } from '@octokit/request-error';
import * as z from 'zod/mini';
import type { AuthorizedGithub, GithubClient, GithubPlace } from '../platforms/github/github-client.ts';
import { readPayload } from '../platforms/github/payload.ts';
import type { Hook } from '../platforms/github/redelivery/hooks.ts';

const listed = z.array(
  z.object({ id: z.union([z.int(), z.bigint()]), config: z.object({ url: z.nullish(z.string()) }) }),
);
const appHook = z.object({ url: z.nullish(z.string()) });

/** GitHub's webhooks that deliver to an address. */
interface HooksTo {
  hooks: Hook[];
  /** The places where GitHub refuses to list webhooks, with its status. */
  refused: string[];
}

/**
 * Asks GitHub for the hooks that the relay otherwise learns from deliveries: hooks of the App, of the repositories, and
 * of the organizations that own them.
 * https://docs.github.com/en/rest/repos/webhooks#list-repository-webhooks
 *
 * @param repositories `owner/name`
 */
export async function hooksTo(url: string, repositories: readonly string[], github: GithubClient): Promise<HooksTo> {
  const found: HooksTo = { hooks: [], refused: [] };

  async function ask(place: string, work: () => Promise<Hook[]>): Promise<void> {
    try {
      found.hooks.push(...(await work()));
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      found.refused.push(`${place} (${error.response ? error.status : 'no answer'})`);
    }
  }

  async function at(kind: 'repository' | 'organization', target: string): Promise<Hook[]> {
    const place: GithubPlace = kind === 'repository' ? { repository: target } : { organization: target };
    const path = kind === 'repository' ? `/repos/${target}/hooks` : `/orgs/${target}/hooks`;
    const authorized: AuthorizedGithub | undefined = await github.at(place);
    const { data = [] } = (await authorized?.request(`GET ${path}`, { per_page: 100 })) ?? {};
    const own = readPayload('list of webhooks', listed, data).filter(({ config }) => config.url === url);
    return own.map(({ id }) => ({ kind, target, id: String(id) }));
  }

  async function ofApp(): Promise<Hook[]> {
    const app = await github.asApp();
    const answer = await app?.request('GET /app/hook/config');
    const isOurs = answer && readPayload('webhook of the App', appHook, answer.data).url === url;
    return app && isOurs ? [{ kind: 'integration', target: 'app', id: app.appId }] : [];
  }

  await ask('the App', ofApp);
  for (const repository of repositories) await ask(repository, () => at('repository', repository));
  const owners = new Set(repositories.map((name) => name.replace(/\/.*/, '')));
  for (const owner of owners) await ask(owner, () => at('organization', owner));
  return found;
}
