import * as z from 'zod/mini';
import type { SlackConfig } from '../config/schema.ts';
import type { SlackApi } from '../platforms/slack/slack-api.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';
import type { Table } from '../state/table/table.ts';

export type LimitedVerb = keyof SlackConfig['permissions'];

/** Decides who may use which verb, and where. */
export interface Permissions {
  /**
   * @param asked.channelId without one, the channel does not matter
   * @param asked.connection where a form or a button goes to another one than its channel's commands
   * @returns why the person may not use the verb there, in mrkdwn, or undefined
   * @throws {SlackRefusal | SlackRateLimited | SlackUnanswered} if Slack has to be asked and gives no answer
   */
  faultOf(
    verb: LimitedVerb,
    asked: { userId: string; channelId?: string | undefined; connection?: string },
  ): Promise<string | undefined>;
}

/** True if anyone may use the verb in that channel. Without a channel, the channel does not matter. */
export function isUsedIn({ permissions }: SlackConfig, verb: LimitedVerb, channelId: string | undefined): boolean {
  const { channels } = permissions[verb] ?? {};
  return channels === undefined || channelId === undefined || channels.includes(channelId);
}

export interface PermissionOptions {
  settings: SlackConfig;
  contact: string;
  table: Table;
  slack: SlackApi;
  clock: () => number;
}

const members = z.object({ users: z.array(z.string()) });
const KNOWN_FOR_MS = 3_600_000;

export function createPermissions({ settings, contact, table, slack, clock }: PermissionOptions): Permissions {
  async function isMember(userId: string, group: string): Promise<boolean> {
    const { users } = await remembered({
      table,
      clock,
      key: keys.userGroup(group),
      keptForMs: KNOWN_FOR_MS,
      read: () => slack.call('usergroups.users.list', { usergroup: group }, members),
    });
    return users.includes(userId);
  }

  return {
    async faultOf(verb, { userId, channelId }) {
      const { channels = [], userGroups } = settings.permissions[verb] ?? {};
      if (!isUsedIn(settings, verb, channelId)) {
        const where = channels.map((id) => `<#${id}>`).join(', ');
        return `\`${settings.command} ${verb}\` can be used in ${where} only.`;
      }
      if (!userGroups) return undefined;
      const are = await Promise.all(userGroups.map((group) => isMember(userId, group)));
      return are.includes(true)
        ? undefined
        : `You may not use ${settings.command} ${verb} here; ${contact} can change that.`;
    },
  };
}
