import * as z from 'zod/mini';
import type { Automation } from '../automations/automation.ts';
import type { SlackConfig } from '../config/schema.ts';
import { NotDone } from '../jobs/interruption.ts';
import type { Job } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import { isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { judged } from './judged.ts';
import type { SlackApi } from './slack-api.ts';

export type LimitedVerb = keyof SlackConfig['permissions'];

/** @returns why the verb may not be used in that channel, in mrkdwn */
export function channelFault(settings: SlackConfig, verb: LimitedVerb, channelId: string): string | undefined {
  const channels = settings.permissions[verb]?.channels;
  if (!channels || channels.includes(channelId)) return undefined;
  const where = channels.map((id) => `<#${id}>`).join(', ');
  return `\`${settings.command} ${verb}\` can be used in ${where} only.`;
}

const members = z.object({ users: z.array(z.string()) });
const KNOWN_FOR_SECONDS = 3_600;

export interface PermissionOptions {
  settings: SlackConfig | undefined;
  contact: string;
  table: Table;
  slack: SlackApi | undefined;
  clock: () => number;
}

/** The automation, for members of the groups only to which its verb is limited. Who is in a group is kept for an hour. */
export function permitted(automation: Automation, options: PermissionOptions): Automation {
  const { settings, contact, table, slack, clock } = options;

  async function isMember(userId: string, group: string, steps: Steps): Promise<boolean> {
    const known = await table.get(keys.userGroup(group));
    if (known && !isExpired(known, clock())) return (known.users as string[]).includes(userId);
    if (!slack) return false;
    const users = await steps.look(`who is in ${group}`, 'Slack usergroups.users.list', () =>
      judged(clock, async () => (await slack.call('usergroups.users.list', { usergroup: group }, members)).users),
    );
    await table.put({ ...keys.userGroup(group), users, expiresAt: Math.floor(clock() / 1000) + KNOWN_FOR_SECONDS });
    return users.includes(userId);
  }

  async function check({ input, replyTo }: Job, steps: Steps): Promise<void> {
    const verb = input.verb === 'undo' ? 'done' : (input.verb as LimitedVerb);
    const groups = settings?.permissions[verb]?.userGroups;
    if (!groups || replyTo?.in !== 'slack') return;
    for (const group of groups) if (await isMember(replyTo.userId, group, steps)) return;
    throw new NotDone(`You may not use ${settings?.command} ${verb} here; ${contact} can change that`);
  }

  return {
    ...automation,
    async run(job, steps) {
      await check(job, steps);
      return automation.run(job, steps);
    },
  };
}
