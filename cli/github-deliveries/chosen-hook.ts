import * as z from 'zod';
import type { GithubClient } from '../../lib/platforms/github/github-client.ts';
import type { Hook } from '../../lib/platforms/github/redelivery/hooks.ts';
import { messageOf } from '../../lib/text.ts';

/** The options that name a hook. */
export interface HookChoice {
  repo?: string;
  org?: string;
  app?: boolean;
  hook?: string;
}

const hooksOfTarget = z.array(
  z.object({ id: z.union([z.int(), z.bigint()]), active: z.boolean(), events: z.array(z.string()) }),
);

/** Returns the hook that the options name. @throws {Error} if they name none, or several */
export async function chosenHook(
  { repo, org, app, hook: id }: HookChoice,
  github: GithubClient,
  appId: () => Promise<string | undefined>,
): Promise<Hook> {
  if ([repo, org, app].filter((one) => one !== undefined).length !== 1) {
    throw new Error('use one of --repo <owner/name>, --org <login> and --app');
  }
  if (app) {
    const own = await appId();
    if (own === undefined || own === '')
      throw new Error('the github secret has no appId: use --repo, or enter the App');
    return { kind: 'integration', target: 'app', id: own };
  }
  const [kind, target] = repo === undefined ? (['organization', org ?? ''] as const) : (['repository', repo] as const);
  if (id !== undefined) return { kind, target, id };
  const list = kind === 'repository' ? `/repos/${target}/hooks` : `/orgs/${target}/hooks`;
  const hooks = await listHooks(
    list,
    github,
    kind === 'repository' ? { repository: target } : { organization: target },
  );
  const [only, ...others] = hooks;
  if (!only) {
    throw new Error(
      `${target} has no webhook. Add one in its settings, with the events Issues, Issue comments and Pull requests. GitHub needs some https URL of yours there; it does not have to answer`,
    );
  }
  if (others.length > 0) {
    const ids = hooks.map((hook) => `${hook.id} (${hook.active ? hook.events.join(', ') : 'not active'})`);
    throw new Error(`${target} has several webhooks: name one with --hook. There are ${ids.join('; ')}`);
  }
  if (!only.active) throw new Error(`the webhook ${only.id} of ${target} is not active, so GitHub delivers nothing`);
  return { kind, target, id: String(only.id) };
}

async function listHooks(path: string, github: GithubClient, at: Parameters<GithubClient['at']>[0]) {
  try {
    const authorized = await github.at(at);
    const answer = await authorized?.request(`GET ${path}`, { per_page: 100 });
    return hooksOfTarget.parse(answer?.data);
  } catch (cause) {
    const why = messageOf(cause);
    throw new Error(`GitHub does not list the webhooks at ${path}: ${why}. See docs/redelivery.md#permissions`, {
      cause,
    });
  }
}
