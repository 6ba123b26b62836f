import * as z from 'zod/mini';
import type { SlackConfig } from '../config/schema.ts';
import type { SlackApi } from '../platforms/slack/slack-api.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';
import type { Table } from '../state/table/table.ts';

export interface AskedPermission {
  userId: string;
  /** Without it, the permission counts in all channels. */
  channelId?: string | undefined;
  /** Set if a form or button uses another connection than the channel's commands. */
  connection?: string;
  /** Set if it is not the permission's own verb. */
  verb?: { verb: string; isCustom?: true };
}

/** Decides who may use which verb, and where. */
export type Permissions = ReturnType<typeof createPermissions>;

/**
 * Returns true if people with the permission may use it in that channel. Without a channel, the channel does not
 * matter.
 */
export function isUsedIn({ permissions }: SlackConfig, permission: string, channelId: string | undefined): boolean {
  const { channels } = permissions[permission] ?? {};
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

export function createPermissions({ settings, contact, table, slack, clock }: PermissionOptions) {
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
    /**
     * @returns why the person may not use the verb there, in mrkdwn, or undefined
     * @throws {SlackRefusal | PlatformRateLimited | PlatformUnanswered} if Slack does not say who is a member
     */
    async faultOf(
      permission: string,
      { userId, channelId, verb: { verb } = { verb: permission } }: AskedPermission,
    ): Promise<string | undefined> {
      const { channels = [], userGroups } = settings.permissions[permission] ?? {};
      if (!isUsedIn(settings, permission, channelId)) {
        const where = channels.map((id) => `<#${id}>`).join(', ');
        return `\`${settings.command} ${verb}\` can be used in ${where} only.`;
      }
      if (!userGroups) return undefined;
      const are = await Promise.all(userGroups.map((group) => isMember(userId, group)));
      return are.includes(true)
        ? undefined
        : `Only members of certain groups may use ${settings.command} ${verb}; ${contact} can add you.`;
    },
  };
}
