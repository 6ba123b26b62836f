import * as z from 'zod';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { createSlackCredential } from '../../lib/credentials/slack-credential.ts';
import { PlatformRateLimited, PlatformUnanswered } from '../../lib/platforms/errors.ts';
import { type SlackApi, SlackRefusal } from '../../lib/platforms/slack/slack-api.ts';
import { type Secrets, slackSigningSecret } from '../../lib/state/secrets/secrets.ts';
import { CannotTell, check, checkCredential, compareStrength, type Finding } from './finding.ts';

export interface SlackToCheck {
  config: RelayConfig;
  secrets: Secrets;
  slack: SlackApi;
}

/** Checks the app's credentials and every configured channel, user group and person. */
export async function checkSlack({ config, secrets, slack }: SlackToCheck): Promise<Finding[]> {
  if (!config.slack) return [];
  const findings = [
    await check('slack: signing secret', async () => {
      const { signingSecret } = await secrets.current('slack', slackSigningSecret);
      compareStrength({ by: 'hmac' }, [signingSecret]);
      return 'it is in the secret';
    }),
  ];
  const credentials = await checkCredential(createSlackCredential(slack));
  findings.push(credentials);
  if (credentials.verdict !== 'good') return findings;
  for (const [channel, paths] of channelsOf(config)) {
    findings.push(await check(`slack: channel ${channel}`, () => findChannel(slack, channel, paths)));
  }
  for (const [group, paths] of groupsOf(config)) {
    findings.push(await check(`slack: user group ${group}`, () => findGroup(slack, group, paths)));
  }
  for (const [index, { slack: user }] of config.people.entries()) {
    if (user)
      findings.push(await check(`slack: person ${user}`, () => findPerson(slack, user, `people.${index}.slack`)));
  }
  for (const [email, path] of addressesOf(config)) {
    findings.push(await check(`slack: ${email}`, () => findAddress(slack, email, path)));
  }
  return findings;
}

/** Ids, each with the paths of the settings in relay.config.ts that name it. */
type Named = ReadonlyMap<string, readonly string[]>;

function channelsOf({ slack, timesheets, contactChannel }: RelayConfig): Named {
  return byId([
    ...Object.keys(slack?.channels ?? {}).map((id) => [id, `slack.channels.${id}`] as const),
    ...Object.entries(slack?.permissions ?? {}).flatMap(([verb, permission]) =>
      (permission?.channels ?? []).map((id) => [id, `slack.permissions.${verb}.channels`] as const),
    ),
    ...(timesheets?.teams ?? []).flatMap(({ summary }, index) =>
      summary ? [[summary.channel, `timesheets.teams.${index}.summary.channel`] as const] : [],
    ),
    ...(contactChannel === undefined ? [] : [[contactChannel, 'contactChannel'] as const]),
  ]);
}

function groupsOf({ slack }: RelayConfig): Named {
  return byId(
    Object.entries(slack?.permissions ?? {}).flatMap(([verb, permission]) =>
      (permission?.userGroups ?? []).map((id) => [id, `slack.permissions.${verb}.userGroups`] as const),
    ),
  );
}

function byId(named: readonly (readonly [id: string, path: string])[]): Named {
  const paths = new Map<string, string[]>();
  for (const [id, path] of named) paths.set(id, [...(paths.get(id) ?? []), path]);
  return paths;
}

/** The relay looks up people to remind in Slack by their address, unless `people` has their Slack id. */
function addressesOf({ people, timesheets }: RelayConfig): Map<string, string> {
  const mapped = new Set(people.flatMap(({ slack, email }) => (slack ? [email.toLowerCase()] : [])));
  const named = (timesheets?.teams ?? []).flatMap(({ people: members, quiet }, index) =>
    members === 'all'
      ? []
      : members
          .filter((email) => !quiet.includes(email))
          .map((email, place) => [email, `timesheets.teams.${index}.people.${place}`] as const),
  );
  return new Map(named.filter(([email]) => !mapped.has(email)));
}

const channelInfo = z.object({
  channel: z.object({
    name: z.string().optional(),
    is_member: z.boolean().optional(),
    is_archived: z.boolean().optional(),
  }),
});

/** https://docs.slack.dev/reference/methods/conversations.info */
async function findChannel(slack: SlackApi, id: string, paths: readonly string[]): Promise<string> {
  const { channel } = await asked(() => slack.call('conversations.info', { channel: id }, channelInfo), paths);
  const name = `#${channel.name ?? id}`;
  if (channel.is_archived) throw new Error(`${name} is archived; see ${paths.join(', ')}`);
  // Only summaries and notices need the app in the channel; answers to commands do not.
  const posts = paths.filter((path) => path.endsWith('.summary.channel') || path === 'contactChannel');
  if (posts.length > 0 && !channel.is_member) {
    throw new Error(`the app is not in ${name}, so it cannot post there: invite it; see ${posts.join(', ')}`);
  }
  return name;
}

/** https://docs.slack.dev/reference/methods/usergroups.users.list */
async function findGroup(slack: SlackApi, id: string, paths: readonly string[]): Promise<string> {
  const { users } = await asked(
    () => slack.call('usergroups.users.list', { usergroup: id }, z.object({ users: z.array(z.string()) })),
    paths,
  );
  if (users.length === 0) throw new CannotTell(`it has no members; see ${paths.join(', ')}`);
  return `${users.length} members`;
}

const userInfo = z.object({
  user: z.object({ real_name: z.string().optional(), deleted: z.boolean().optional(), is_bot: z.boolean().optional() }),
});

/** https://docs.slack.dev/reference/methods/users.info */
async function findPerson(slack: SlackApi, id: string, path: string): Promise<string> {
  const { user } = await asked(() => slack.call('users.info', { user: id }, userInfo), [path]);
  if (user.deleted) throw new Error(`the account is deactivated; see ${path}`);
  if (user.is_bot) throw new Error(`it is a bot; see ${path}`);
  return user.real_name ?? id;
}

/** https://docs.slack.dev/reference/methods/users.lookupByEmail */
async function findAddress(slack: SlackApi, email: string, path: string): Promise<string> {
  const { user } = await asked(
    () => slack.call('users.lookupByEmail', { email }, z.object({ user: z.object({ id: z.string() }) })),
    [path],
  );
  return user.id;
}

/** Makes a call and turns a refusal into a message for the author of relay.config.ts. */
async function asked<T>(call: () => Promise<T>, paths: readonly string[] = []): Promise<T> {
  const at = paths.length > 0 ? `; see ${paths.join(', ')}` : '';
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformRateLimited || error instanceof PlatformUnanswered)
      throw new CannotTell(error.message);
    if (!(error instanceof SlackRefusal)) throw error;
    if (error.error === 'missing_scope') {
      throw new CannotTell(
        `the app lacks the scope for ${error.method}: update the app with the manifest from slack-manifest and reinstall it${at}`,
      );
    }
    throw new Error(`${error.message}${at}`, { cause: error });
  }
}
