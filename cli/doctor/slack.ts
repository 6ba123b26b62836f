import * as z from 'zod';
import { CannotTell, type Check, type Checks, check } from '../../lib/checks/check.ts';
import { slackCredential, unlessRefused } from '../../lib/checks/slack-credential.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type SlackApi, SlackRefusal } from '../../lib/platforms/slack/slack-api.ts';
import { type Secrets, slackSigningSecret } from '../../lib/state/secrets/secrets.ts';
import { compareStrength } from './finding.ts';

export interface SlackToCheck {
  config: RelayConfig;
  secrets: Secrets;
  slack: SlackApi;
}

/** Checks the app's credentials, and every configured channel, user group and person. */
export function slackChecks({ config, secrets, slack }: SlackToCheck): Checks {
  if (!config.slack) return [];
  return [
    check('slack: signing secret', async () => {
      const { signingSecret } = await secrets.current('slack', slackSigningSecret);
      compareStrength({ by: 'hmac' }, [signingSecret]);
      return 'it is set';
    }),
    { ...slackCredential(slack), next: (verdict) => (verdict === 'good' ? namedChecks(config, slack) : []) },
  ];
}

/** An id or an address, and the path of the setting in relay.config.ts that names it. */
type Named = [id: string, path: string];

function namedChecks({ slack: settings, people, timesheets, contactChannel }: RelayConfig, slack: SlackApi): Checks {
  const permissions = Object.entries(settings?.permissions ?? {});
  const teams = timesheets?.teams ?? [];
  const channels = [
    ...Object.keys(settings?.channels ?? {}).map((id): Named => [id, `slack.channels.${id}`]),
    ...permissions.flatMap(([verb, one]) =>
      (one?.channels ?? []).map((id): Named => [id, `slack.permissions.${verb}.channels`]),
    ),
    ...teams.flatMap(({ summary }, index): Named[] =>
      summary ? [[summary.channel, `timesheets.teams.${index}.summary.channel`]] : [],
    ),
    ...(contactChannel === undefined ? [] : [[contactChannel, 'contactChannel'] satisfies Named]),
  ];
  const groups = permissions.flatMap(([verb, one]) =>
    (one?.userGroups ?? []).map((id): Named => [id, `slack.permissions.${verb}.userGroups`]),
  );
  const persons = people.flatMap(({ slack: id }, index): Named[] => (id ? [[id, `people.${index}.slack`]] : []));
  // Reminders find people in Slack by their address, unless `people` has their Slack id.
  const mapped = new Set(people.flatMap(({ slack: id, email }) => (id ? [email.toLowerCase()] : [])));
  const addresses = teams.flatMap(({ people: members, quiet }, index) =>
    (members === 'all' ? [] : members.filter((email) => !quiet.includes(email))).map(
      (email, place): Named => [email, `timesheets.teams.${index}.people.${place}`],
    ),
  );
  const checks = (kind: string, named: readonly Named[], find: typeof findChannel): Check[] =>
    [...Map.groupBy(named, ([id]) => id)].map(([id, same]) => {
      const paths = same.map(([, path]) => path);
      return check(`slack: ${kind}${id}`, () => find(slack, id, paths));
    });
  return [
    checks('channel ', channels, findChannel),
    checks('user group ', groups, findGroup),
    checks('person ', persons, findPerson),
    checks(
      '',
      addresses.filter(([email]) => !mapped.has(email)),
      findAddress,
    ),
  ];
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
  // The app must be in a channel only for summaries and notices, not to answer commands.
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
async function findPerson(slack: SlackApi, id: string, paths: readonly string[]): Promise<string> {
  const { user } = await asked(() => slack.call('users.info', { user: id }, userInfo), paths);
  if (user.deleted) throw new Error(`the account is deactivated; see ${paths.join(', ')}`);
  if (user.is_bot) throw new Error(`it is a bot; see ${paths.join(', ')}`);
  return user.real_name ?? id;
}

/** https://docs.slack.dev/reference/methods/users.lookupByEmail */
async function findAddress(slack: SlackApi, email: string, paths: readonly string[]): Promise<string> {
  const { user } = await asked(
    () => slack.call('users.lookupByEmail', { email }, z.object({ user: z.object({ id: z.string() }) })),
    paths,
  );
  return user.id;
}

/** Makes a call. If Slack refuses it, the error tells the author of relay.config.ts what to change. */
async function asked<T>(call: () => Promise<T>, paths: readonly string[]): Promise<T> {
  const at = `; see ${paths.join(', ')}`;
  try {
    return await call().catch(unlessRefused);
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    if (error.error === 'missing_scope') {
      throw new CannotTell(
        `the app lacks the scope for ${error.method}: update the app with the manifest from slack-manifest and reinstall it${at}`,
      );
    }
    throw new Error(`${error.message}${at}`, { cause: error });
  }
}
