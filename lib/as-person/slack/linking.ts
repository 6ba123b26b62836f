import type * as z from 'zod/mini';
import type { Permissions } from '../../automations/slack-permissions.ts';
import type { SlackConfig } from '../../config/schema.ts';
import { onConnection, unservedCommand } from '../../config/settings.ts';
import {
  type accountToLink,
  linkButton,
  linkMessage,
  notOffered,
  openLinkMessage,
} from '../../platforms/slack/link-messages.ts';
import { message, type SlackMessage, section, sentence, warning } from '../../platforms/slack/messages.ts';
import { code, escaped, time } from '../../platforms/slack/mrkdwn.ts';
import type { Runtime, Stores } from '../../runtime.ts';
import { deathInWords } from '../grants/errors.ts';
import type { Grant, Holder } from '../grants/grant.ts';
import { createGrants } from '../grants/grants.ts';
import { createVault } from '../grants/vault.ts';
import { createGrantRequests, endOfStep } from '../linking/grant-requests.ts';
import { scopes as inWords } from '../protocol/oauth/scopes.ts';

interface Asking {
  userId: string;
  userName: string;
}

/** The answers to people in Slack about linked accounts. */
export type Linking = ReturnType<typeof createLinking>;

export function createLinking(
  { config, environment, clock, randomBytes }: Runtime,
  settings: SlackConfig,
  { table, secrets }: Stores,
) {
  // The key belongs to another function. Grants stored here were sealed there, and this function opens none.
  const grants = createGrants(table, createVault(secrets, randomBytes), clock);
  const grantRequests = createGrantRequests(table, grants, clock, randomBytes);

  /** True if people can link an account on the connection. */
  const isOffered = (connection: string) => (config.connections[connection]?.mcp.accounts ?? 'off') !== 'off';

  /** Says which commands act in the name of a person with a linked account. */
  function inYourName(connection: string): string {
    const { accounts, commands = {} } = config.connections[connection]?.mcp ?? {};
    if (accounts === 'required') return 'commands act in your name, with your rights.';
    const verbs = Object.keys(commands).flatMap((command) => (command === 'week' ? ['today', command] : command));
    if (verbs.length === 0)
      return `commands use Partner Relay's own account until ${escaped(config.contact)} changes that.`;
    const typed = verbs.map((verb) => code(`${settings.command} ${verb}`)).join(', ');
    return `these commands act in your name, with your rights: ${typed}. Partner Relay's other commands use its own account.`;
  }

  /** The account and its workspace have no name here (docs/partner-api.md#mcp-authorization): the person chose both. */
  const linkedSince = ({ connection, linkedAt }: Grant): string =>
    `Your account has been linked since ${time(linkedAt)}, with the workspace that you chose. ${sentence(inYourName(connection))}`;

  /**
   * Returns why a person cannot use a verb. If `connections.<name>.mcp.accounts` is `required`, the relay acts only in
   * their own name.
   */
  const faultOf: Permissions['faultOf'] = async (permission, { userId, channelId = '', ...asked }) => {
    const { verb } = asked.verb ?? { verb: permission };
    const connection = asked.connection ?? settings.channels[channelId]?.connection ?? settings.connection;
    const { mcp } = config.connections[connection] ?? {};
    if (mcp?.accounts !== 'required') return undefined;
    const grant = await grants.get(connection, holderOf({ userId }));
    if (!grant || grant.death) {
      return `Here, people act in their own name. Link your account first: ${settings.command} link`;
    }
    return unservedCommand(verb === 'today' ? 'week' : verb, mcp, `${settings.command} ${verb}`);
  };

  /** Answers `link` with a button, or, for a code, with the result of the link. */
  async function linkAccount(
    asking: Asking,
    typed: { connection: string; code?: string | undefined },
  ): Promise<SlackMessage> {
    const { connection } = typed;
    if (!isOffered(connection)) return notOffered(config);
    if (typed.code !== undefined && !CODE.test(typed.code))
      return linkMessage('That is not a code. A code has six digits, such as 482-913.', connection);
    if (typed.code !== undefined) return confirm(asking, connection, typed.code);
    const grant = await grants.get(connection, holderOf(asking));
    const isLinked = grant !== undefined && grant.death === undefined;
    const what = isLinked
      ? `${linkedSince(grant)} If you link another account, it replaces this one.`
      : `After you link your account, ${inYourName(connection)}`;
    return linkMessage(what, connection);
  }

  /** Creates a link for the person who pressed the button. */
  async function makeLink(
    asking: Asking,
    { connection, scopes }: z.output<typeof accountToLink>,
  ): Promise<SlackMessage> {
    const endpoint = environment.ACCOUNT_LINK_URL;
    if (!isOffered(connection)) return notOffered(config);
    if (endpoint === undefined) {
      return warning(`The page that links accounts is not deployed. Tell ${escaped(config.contact)}.`);
    }
    const holder = holderOf(asking);
    const ticket = await grantRequests.begin({
      holder,
      connection,
      name: asking.userName,
      redirectUri: `${endpoint}/callback/${connection}`,
      scopes,
    });
    const url = `${endpoint}/start?${new URLSearchParams({ ticket })}`;
    return openLinkMessage({ url, until: endOfStep(clock()).until, command: settings.command });
  }

  async function confirm(asking: Asking, here: string, typed: string): Promise<SlackMessage> {
    const holder = holderOf(asking);
    const others = Object.keys(config.connections).filter((name) => name !== here);
    // The code may be typed in another channel than the one where the link was requested.
    let wrong: SlackMessage | undefined;
    for (const connection of [here, ...others].filter((name) => isOffered(name))) {
      const confirmed = await grantRequests.confirm({ holder, connection }, typed);
      if ('nothing' in confirmed) continue;
      if ('triesLeft' in confirmed) {
        // The code may belong to a link on another connection.
        wrong ??= wrongCode(confirmed.triesLeft, connection);
        continue;
      }
      return message(
        section(
          `:white_check_mark: Your account is linked. ${sentence(inYourName(connection))}${allowedBy(confirmed.grant)}`,
        ),
      );
    }
    if (wrong) return wrong;
    const stolen = 'If another person sent you the link, do not share the code: it would let them act in your name.';
    return linkMessage(`No link is waiting for this code, or it has expired. ${stolen}`, here);
  }

  /** Answers `unlink`. */
  async function unlinkAccount(userId: string, connection: string): Promise<SlackMessage> {
    const holder = holderOf({ userId });
    await grantRequests.drop({ holder, connection });
    if (!(await grants.forget(connection, holder))) return warning('You have not linked an account here.');
    const told =
      'Partner Relay has forgotten your account. The service still has your consent: withdraw it there, where you manage connected applications, or ask your administrator to.';
    return message(section(`:white_check_mark: ${told}`));
  }

  /** Says for `status` as whom a person acts; empty if accounts are not linked on the connection. */
  async function linkStatus(userId: string, connection: string): Promise<SlackMessage['blocks']> {
    if (!isOffered(connection)) return [];
    const grant = await grants.get(connection, holderOf({ userId }));
    const heading = section(`*Your account${onConnection(connection, config)}*`);
    if (grant && !grant.death) {
      const unused = `It expires ${time(grant.unusedUntil)} unless you use it before.`;
      return [heading, section(`${linkedSince(grant)} ${unused}`)];
    }
    const why = grant?.death ? `It no longer works: ${deathInWords(grant.death)}.` : 'You have not linked an account.';
    const isRequired = config.connections[connection]?.mcp.accounts === 'required';
    const waits = ' Link your account again: until then, Partner Relay cannot act in your name.';
    const instead = grant ? waits : ' Partner Relay does what you ask with its own account, not yours.';
    return message([heading, section(escaped(why) + (isRequired ? '' : instead))], linkButton(connection)).blocks;
  }

  return { faultOf, linkAccount, makeLink, unlinkAccount, linkStatus };
}

const CODE = /^\d{3}-\d{3}$/;

const holderOf = ({ userId }: Pick<Asking, 'userId'>): Holder => ({ in: 'slack', id: userId });

function wrongCode(triesLeft: number, connection: string): SlackMessage {
  if (triesLeft > 0)
    return warning(`That is not the code. You have ${triesLeft} more ${triesLeft === 1 ? 'try' : 'tries'}.`);
  return linkMessage('That is not the code, and this was the last try. Nothing was linked.', connection);
}

const allowedBy = ({ scopes }: Grant) =>
  scopes.length > 0
    ? ` You allowed Partner Relay to ${scopes.map((scope) => inWords[scope] ?? escaped(scope)).join(', ')}.`
    : '';
