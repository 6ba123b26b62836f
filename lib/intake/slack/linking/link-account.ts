import type * as z from 'zod/mini';
import { deathInWords } from '../../../as-person/grants/errors.ts';
import type { Grant, Holder } from '../../../as-person/grants/grant.ts';
import type { Grants } from '../../../as-person/grants/grants.ts';
import { endOfStep } from '../../../as-person/linking/link-item.ts';
import type { LinkRequests } from '../../../as-person/linking/link-requests.ts';
import type { RelayConfig, SlackConfig } from '../../../config/schema.ts';
import {
  type accountToLink,
  linkButton,
  linkMessage,
  openLinkMessage,
} from '../../../platforms/slack/link-messages.ts';
import { message, plainSection, type SlackMessage, section, warning } from '../../../platforms/slack/messages.ts';
import { code, escaped } from '../../../platforms/slack/mrkdwn.ts';
import type { Asking } from './linking.ts';
import { notOffered } from './linking-off.ts';

/** What the answers about linked accounts need. */
export interface LinkIntake {
  config: RelayConfig;
  settings: SlackConfig;
  clock: () => number;
  grants: Pick<Grants, 'get' | 'forget'>;
  linkRequests: LinkRequests;
  /** Where browsers find account-link, without a slash at its end; undefined where it is not deployed. */
  accountLinkUrl(): string | undefined;
  /** Lets the jobs go on that wait until the person has linked an account, wherever they were asked for. */
  goOn(userId: string, connection: string): Promise<void>;
}

const holderOf = ({ userId }: Pick<Asking, 'userId'>): Holder => ({ in: 'slack', id: userId });

/** Whether people can link an account there. */
const isOffered = ({ config }: LinkIntake, connection: string) =>
  (config.connections[connection]?.mcp.link ?? 'off') !== 'off';

export async function linkAccount(
  asking: Asking,
  typed: { connection: string; code?: string | undefined },
  intake: LinkIntake,
): Promise<SlackMessage> {
  const { connection } = typed;
  if (!isOffered(intake, connection)) return notOffered(intake.config);
  if (typed.code !== undefined) return confirm(asking, connection, typed.code, intake);
  const grant = await intake.grants.get(connection, holderOf(asking));
  const isLinked = grant !== undefined && grant.death === undefined;
  const what = isLinked
    ? `${actsAs(grant)} If you link an account again, it takes the place of that one.`
    : 'Link your account, and what you ask for here is done in your name and with your rights.';
  return linkMessage(what, connection);
}

export async function makeLink(
  asking: Asking,
  { connection, scopes }: z.output<typeof accountToLink>,
  intake: LinkIntake,
): Promise<SlackMessage> {
  const endpoint = intake.accountLinkUrl();
  if (!isOffered(intake, connection)) return notOffered(intake.config);
  if (endpoint === undefined) {
    return warning(`The page that links accounts is not deployed. Tell ${escaped(intake.config.contact)}.`);
  }
  const holder = holderOf(asking);
  const ticket = await intake.linkRequests.begin({
    holder,
    connection,
    name: asking.userName,
    redirectUri: `${endpoint}/callback/${connection}`,
    ...(scopes && { scopes }),
  });
  const url = `${endpoint}/start?${new URLSearchParams({ ticket })}`;
  return openLinkMessage({ url, until: endOfStep(intake.clock()).until, command: intake.settings.command });
}

async function confirm(asking: Asking, here: string, typed: string, intake: LinkIntake): Promise<SlackMessage> {
  const holder = holderOf(asking);
  const others = Object.keys(intake.config.connections).filter((name) => name !== here);
  // The code may be typed in another channel than the link was asked for in.
  let wrong: SlackMessage | undefined;
  for (const connection of [here, ...others].filter((name) => isOffered(intake, name))) {
    const confirmed = await intake.linkRequests.confirm({ holder, connection }, typed);
    if ('nothing' in confirmed) continue;
    if ('triesLeft' in confirmed) {
      // It may be the code of a link on another connection.
      wrong ??= wrongCode(confirmed.triesLeft, connection);
      continue;
    }
    await intake.goOn(asking.userId, connection);
    return message(plainSection(`:white_check_mark: Your account is linked. ${actsAs(confirmed.grant)}`));
  }
  if (wrong) return wrong;
  if (!isOffered(intake, here)) return notOffered(intake.config);
  const stolen = 'If another person sent you the link, do not share the code: it would let them act in your name.';
  return linkMessage(`No link of yours waits for a code, or its time is over. ${stolen}`, here);
}

function wrongCode(triesLeft: number, connection: string): SlackMessage {
  if (triesLeft > 0)
    return warning(`That is not the code. You have ${triesLeft} more ${triesLeft === 1 ? 'try' : 'tries'}.`);
  return linkMessage('That is not the code, and it was the last try. Nothing is linked.', connection);
}

export async function unlinkAccount(userId: string, connection: string, intake: LinkIntake): Promise<SlackMessage> {
  const holder = holderOf({ userId });
  await intake.linkRequests.drop({ holder, connection });
  if (!(await intake.grants.forget(connection, holder))) return warning('You have linked no account here.');
  const told =
    'The relay has forgotten your account. Your consent still stands in the service: withdraw it there, too, where you manage connected applications, or ask an administrator to.';
  return message(plainSection(`:white_check_mark: ${told}`));
}

export async function waitsForLink(
  verb: string,
  userId: string,
  connection: string,
  intake: LinkIntake,
): Promise<string | undefined> {
  const { link, commands } = intake.config.connections[connection]?.mcp ?? { link: 'off', commands: {} };
  if (link === 'off' || !Object.hasOwn(commands, verb)) return undefined;
  const grant = await intake.grants.get(connection, holderOf({ userId }));
  if (!grant?.death) return undefined;
  return `It goes on once you have linked your account again: ${code(`${intake.settings.command} link`)}`;
}

export async function linkStatus(
  userId: string,
  connection: string,
  intake: LinkIntake,
): Promise<SlackMessage['blocks']> {
  if (!isOffered(intake, connection)) return [];
  const grant = await intake.grants.get(connection, holderOf({ userId }));
  const heading = section(`*Your account on ${connection}*`);
  if (grant && !grant.death) {
    const unused = `The service forgets it if you do not use it until ${dateOf(grant.unusedUntil)}.`;
    return [heading, plainSection(`${actsAs(grant)} ${unused}`)];
  }
  const why = grant?.death ? `It cannot be used any more: ${deathInWords(grant.death)}.` : 'You have not linked one.';
  const isRequired = intake.config.connections[connection]?.mcp.link === 'required';
  const waits = ' What goes through it waits until you have linked your account again.';
  const instead = grant ? waits : ' What you ask for is done by the relay, for you.';
  return message([heading, plainSection(why + (isRequired ? '' : instead))], linkButton(connection)).blocks;
}

/** docs/partner-api.md#mcp-authorization shows no name of the account or of its workspace: the person chose both. */
function actsAs({ linkedAt, scopes }: Grant): string {
  const may = scopes.length > 0 ? `, with the scopes ${scopes.join(', ')}` : '';
  return `You act as yourself, with the account and in the workspace that you chose on ${dateOf(linkedAt)}${may}.`;
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
