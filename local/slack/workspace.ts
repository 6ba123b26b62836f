import type { KnownBlock, MessageMetadata, ModalView } from '@slack/types';
import { type Clock, createStamps, createTriggers, type Stamps, type Triggers } from './stamps.ts';

export interface SlackUser {
  id: string;
  name: string;
  email?: string;
  /** IANA */
  tz?: string;
  /** Seconds east of UTC. */
  tz_offset?: number;
  deleted?: boolean;
  is_bot?: boolean;
  /** Whether the person is in another workspace that shares a channel with this one. */
  is_stranger?: boolean;
  /** The person's workspace, by default this one, and its organization. */
  team_id?: string;
  enterprise_id?: string;
  /** A multi-channel guest, or, if ultra-restricted, a single-channel guest. */
  is_restricted?: boolean;
  is_ultra_restricted?: boolean;
  /** Default: confirmed. */
  is_email_confirmed?: boolean;
}

export interface SlackChannel {
  id: string;
  name: string;
  /** Whether the bot is a member. Otherwise, it can neither post nor read there. */
  botIsMember: boolean;
}

export interface MessageContent {
  text: string;
  blocks?: KnownBlock[];
  metadata?: MessageMetadata;
  /** When it was sent, in epoch milliseconds. */
  at: number;
}

/** A sent message, as people see it now. */
export interface SlackMessage extends MessageContent {
  /** Sent by chat.postMessage; by a response URL to one person; by a response URL to everyone in the channel. */
  kind: 'message' | 'ephemeral' | 'response';
  channel: string;
  /** The only person who sees it, if not everyone does. */
  userId?: string;
  /** The time in Slack's format, which is also the id within the channel: `1763640000.000100` */
  ts: string;
}

/** A modal in its current state. Removing it from the list closes it. */
export interface StandInView {
  id: string;
  /** Changes with each update. */
  hash: string;
  view: ModalView;
  userId: string;
  /** When the current content was shown, in epoch milliseconds. */
  at: number;
  /** Earlier contents, oldest first. */
  replaced: ModalView[];
}

/** The workspace where the app is installed. */
export interface Installation {
  teamId: string;
  /** The organization of the workspace. */
  enterpriseId?: string;
  /** True if the app is installed for all workspaces of the organization. */
  isEnterpriseInstall: boolean;
}

/** The workspace, and everything that was sent to it. Callers may change all of it. */
export interface Workspace {
  clock: Clock;
  installation: Installation;
  users: Map<string, SlackUser>;
  channels: Map<string, SlackChannel>;
  /** The user ids of each group, by group id. */
  userGroups: Map<string, string[]>;
  /** The app's scopes; undefined means all. */
  scopes?: ReadonlySet<string>;
  messages: SlackMessage[];
  views: StandInView[];
  triggers: Triggers;
  stamps: Stamps;
}

export const TEAM_ID = 'T0RELAY01';

export function createWorkspace(
  clock: Clock,
  people: readonly SlackUser[],
  channels: readonly SlackChannel[],
  userGroups: Readonly<Record<string, readonly string[]>>,
): Workspace {
  const stamps = createStamps(clock);
  return {
    clock,
    installation: { teamId: TEAM_ID, isEnterpriseInstall: false },
    users: new Map(people.map((user) => [user.id, { ...user }])),
    channels: new Map(channels.map((channel) => [channel.id, { ...channel }])),
    userGroups: new Map(Object.entries(userGroups).map(([id, members]) => [id, [...members]])),
    messages: [],
    views: [],
    triggers: createTriggers(clock, stamps),
    stamps,
  };
}

/** An id such as `V01JAN8Q0C` for a view. */
export function nextId({ stamps }: Workspace, prefix: string): string {
  return `${prefix}0${stamps.nextNumber().toString(36).toUpperCase()}`;
}

/** The conversation of the bot with one person. */
export function directMessage(userId: string): string {
  return `D${userId.slice(1)}`;
}

/** The other person, if the channel is a direct conversation. */
export function otherEnd({ users }: Workspace, channel: string): SlackUser | undefined {
  return [...users.values()].find(({ id }) => directMessage(id) === channel);
}
