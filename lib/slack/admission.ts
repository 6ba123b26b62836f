import * as z from 'zod/mini';
import type { SlackConfig } from '../config/schema.ts';
import { keys } from '../table/keys.ts';
import { remembered } from '../table/remembered.ts';
import type { Table } from '../table/table.ts';
import { type SlackApi, SlackRefusal } from './slack-api.ts';

/** Who sends a request, and from which workspace, as Slack says in it. An org-wide installation may name no team. */
export interface Sender {
  userId: string;
  teamId?: string | undefined;
  enterpriseId?: string | undefined;
}

/** Who may use the relay at all: docs/decisions/0020-who-may-ask.md. */
export interface Admission {
  /**
   * @returns why the sender may do nothing here, or undefined
   * @throws {SlackRefusal | SlackRateLimited | SlackUnanswered} where Slack must be asked and does not say
   */
  faultOf(sender: Sender): Promise<string | undefined>;
}

export interface AdmissionOptions {
  settings: SlackConfig;
  /** Those who are let in where there is no token to ask Slack with. */
  people: readonly { slack?: string | undefined }[];
  contact: string;
  table: Table;
  slack: SlackApi;
  clock: () => number;
}

/** Where the app is installed. https://docs.slack.dev/reference/methods/auth.test */
const workspace = z.object({
  team_id: z.string(),
  enterprise_id: z.nullish(z.string()),
  is_enterprise_install: z.nullish(z.boolean()),
});
type Workspace = z.output<typeof workspace>;

/** https://docs.slack.dev/reference/objects/user-object */
const userInfo = z.object({
  user: z.object({
    team_id: z.nullish(z.string()),
    enterprise_user: z.nullish(z.object({ enterprise_id: z.nullish(z.string()) })),
    deleted: z.nullish(z.boolean()),
    is_restricted: z.nullish(z.boolean()),
    is_ultra_restricted: z.nullish(z.boolean()),
    is_stranger: z.nullish(z.boolean()),
  }),
});

/** What somebody is to the workspace; `hidden` if Slack does not show them to the app. */
type Standing = 'member' | 'guest' | 'stranger' | 'hidden';

/** An app that was installed elsewhere since is noticed with the first request that is refused for it. */
const WORKSPACE_FRESH_MS = 60_000;
/** Who becomes a guest, or leaves, is one to the relay after this time. */
const STANDING_KNOWN_FOR_MS = 3_600_000;

export function createAdmission({ settings, people, contact, table, slack, clock }: AdmissionOptions): Admission {
  const { guests, strangers } = settings.access;
  let known: { workspace: Workspace; at: number } | undefined;

  /** What is remembered is good as long as it fits: only a request that does not fit has Slack asked again. */
  async function workspaceFor(sender: Sender): Promise<Workspace> {
    known ??= (await table.get(keys.slackWorkspace())) as typeof known;
    if (known && (isOf(known.workspace, sender) || known.at + WORKSPACE_FRESH_MS > clock())) return known.workspace;
    known = { workspace: await slack.call('auth.test', {}, workspace), at: clock() };
    await table.put({ ...keys.slackWorkspace(), ...known });
    return known.workspace;
  }

  async function standingOf(userId: string, ours: Workspace): Promise<Standing> {
    const { standing } = await remembered({
      ...{ table, clock, key: keys.slackStanding(ours.team_id, userId), keptForMs: STANDING_KNOWN_FOR_MS },
      read: async () => ({ standing: await askForStanding(userId, ours) }),
    });
    return standing;
  }

  async function askForStanding(userId: string, ours: Workspace): Promise<Standing> {
    try {
      return standing((await slack.call('users.info', { user: userId }, userInfo)).user, ours);
    } catch (error) {
      if (error instanceof SlackRefusal && /^user_not_(found|visible)$/.test(error.error)) return 'hidden';
      throw error;
    }
  }

  return {
    async faultOf(sender) {
      if (!(await slack.isThere())) {
        if ((guests && strangers) || people.some(({ slack: id }) => id === sender.userId)) return undefined;
        return `The relay has no token of the Slack app yet, so it cannot tell who you are. Tell ${contact}.`;
      }
      const ours = await workspaceFor(sender);
      const isOurs = isOf(ours, sender);
      if (!isOurs && !strangers) return 'This relay belongs to another workspace.';
      if (isOurs && guests && strangers) return undefined;
      const standing = await standingOf(sender.userId, ours);
      // Slack shows the app only people of its own workspace and of channels that it shares.
      if (!isOurs && standing !== 'stranger') return 'This relay belongs to another workspace.';
      if (standing === 'hidden') return 'Slack does not tell the relay who you are.';
      if (standing === 'guest' && !guests) return `Guests may not use this relay; ${contact} can change that.`;
      if (standing === 'stranger' && !strangers) {
        return `People of other workspaces may not use this relay; ${contact} can change that.`;
      }
      return undefined;
    },
  };
}

function isOf(ours: Workspace, { teamId, enterpriseId }: Sender): boolean {
  if (ours.is_enterprise_install) return Boolean(ours.enterprise_id) && ours.enterprise_id === enterpriseId;
  return ours.team_id === teamId;
}

function standing(user: z.output<typeof userInfo>['user'], ours: Workspace): Standing {
  if (user.deleted) return 'hidden';
  const isOfOrganization = Boolean(ours.enterprise_id) && user.enterprise_user?.enterprise_id === ours.enterprise_id;
  const isElsewhere = Boolean(user.team_id) && user.team_id !== ours.team_id && !isOfOrganization;
  if (user.is_stranger || isElsewhere) return 'stranger';
  return user.is_restricted || user.is_ultra_restricted ? 'guest' : 'member';
}
