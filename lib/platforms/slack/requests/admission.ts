import * as z from 'zod/mini';
import type { SlackConfig } from '../../../config/schema.ts';
import { keys } from '../../../state/table/keys.ts';
import { remembered } from '../../../state/table/remembered.ts';
import type { Table } from '../../../state/table/table.ts';
import { type SlackApi, SlackRefusal } from '../slack-api.ts';
import { isOfWorkspace, membership, type Workspace, workspace } from '../workspace.ts';

/**
 * The sender of a request and their workspace, as reported by Slack. In an org-wide installation, the team may be
 * missing.
 */
export interface SlackSender {
  userId: string;
  teamId?: string | undefined;
  enterpriseId?: string | undefined;
}

/** Decides who may use the relay: docs/decisions/0020-who-may-ask.md. */
export type Admission = ReturnType<typeof createAdmission>;

export interface AdmissionOptions {
  settings: SlackConfig;
  /** The people who may use the relay while there is no token for asking Slack. */
  people: readonly { slack?: string | undefined }[];
  contact: string;
  table: Table;
  slack: SlackApi;
  clock: () => number;
}

/** https://docs.slack.dev/reference/objects/user-object */
const userInfo = z.object({
  user: z.object({
    ...membership,
    deleted: z.nullish(z.boolean()),
    is_restricted: z.nullish(z.boolean()),
    is_ultra_restricted: z.nullish(z.boolean()),
  }),
});

/** A person's relation to the workspace; `hidden` if Slack does not show the person to the app. */
type Standing = 'member' | 'guest' | 'stranger' | 'hidden';

/**
 * How long the known workspace counts for requests that do not match it. If the app was installed in another workspace,
 * a refused request reveals it.
 */
const WORKSPACE_FRESH_MS = 60_000;
/** How long the relay may still treat a person as a member after they become a guest or leave. */
const STANDING_KNOWN_FOR_MS = 3_600_000;

export function createAdmission({ settings, people, contact, table, slack, clock }: AdmissionOptions) {
  const { guests, strangers } = settings.access;
  let known: { workspace: Workspace; at: number } | undefined;
  let reading: Promise<void> | undefined;

  /** Reads the workspace. Simultaneous callers share one read. */
  function readWorkspace(): Promise<void> {
    reading ??= table
      .get(keys.slackWorkspace())
      .then((item) => {
        known ??= item as typeof known;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  /** Returns the known workspace if it matches the sender. Otherwise asks Slack. */
  async function workspaceFor(sender: SlackSender): Promise<Workspace> {
    if (!known) await readWorkspace();
    if (known && (isOf(known.workspace, sender) || known.at + WORKSPACE_FRESH_MS > clock())) return known.workspace;
    known = { workspace: await slack.call('auth.test', {}, workspace), at: clock() };
    await table.put({ ...keys.slackWorkspace(), ...known });
    return known.workspace;
  }

  async function standingOf(userId: string, ours: Workspace): Promise<Standing> {
    const { standing } = await remembered({
      table,
      clock,
      key: keys.slackStanding(ours.team_id, userId),
      keptForMs: STANDING_KNOWN_FOR_MS,
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
    /** Starts reading the workspace, so that the first request does not have to wait. */
    prepare: (): void => void readWorkspace().catch(() => {}),
    /**
     * @returns why the sender may not use the relay, or undefined
     * @throws {SlackRefusal | PlatformRateLimited | PlatformUnanswered} if the relay has to ask Slack and gets no
     *   answer
     */
    async faultOf(sender: SlackSender): Promise<string | undefined> {
      if (!(await slack.isThere())) {
        if ((guests && strangers) || people.some(({ slack: id }) => id === sender.userId)) return undefined;
        return `Partner Relay has no token for the Slack app yet, so it cannot check who you are. Tell ${contact}.`;
      }
      const ours = await workspaceFor(sender);
      const isOurs = isOf(ours, sender);
      if (!isOurs && !strangers) return 'Partner Relay belongs to another workspace.';
      if (isOurs && guests && strangers) return undefined;
      const standing = await standingOf(sender.userId, ours);
      // Slack shows the app only people of its workspace and of shared channels.
      if (!isOurs && standing !== 'stranger') return 'Partner Relay belongs to another workspace.';
      if (standing === 'hidden')
        return `Partner Relay cannot see your Slack profile, so it cannot check who you are. Try again in a minute; if it stays like this, ask ${contact}.`;
      if (standing === 'guest' && !guests) return `Guests may not use Partner Relay; ${contact} can change that.`;
      if (standing === 'stranger' && !strangers) {
        return `People of other workspaces may not use Partner Relay; ${contact} can change that.`;
      }
      return undefined;
    },
  };
}

function isOf(ours: Workspace, { teamId, enterpriseId }: SlackSender): boolean {
  if (ours.is_enterprise_install) return Boolean(ours.enterprise_id) && ours.enterprise_id === enterpriseId;
  return ours.team_id === teamId;
}

function standing(user: z.output<typeof userInfo>['user'], ours: Workspace): Standing {
  if (user.deleted) return 'hidden';
  if (!isOfWorkspace(user, ours)) return 'stranger';
  return user.is_restricted || user.is_ultra_restricted ? 'guest' : 'member';
}
