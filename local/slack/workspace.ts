import type { KnownBlock, MessageMetadata, ModalView } from '@slack/types';
import { type Clock, createStamps, type Stamps } from './stamps.ts';
import { createTriggers, type Triggers } from './triggers.ts';

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
  /** Of another workspace, which shares a channel with this one. */
  is_stranger?: boolean;
  /** The workspace that they are of, by default this one, and its organization. */
  team_id?: string;
  enterprise_id?: string;
  /** A guest, of several channels or, ultra-restricted, of one. */
  is_restricted?: boolean;
  is_ultra_restricted?: boolean;
  /** By default they have confirmed it. */
  is_email_confirmed?: boolean;
}

export interface SlackChannel {
  id: string;
  name: string;
  /** Whether the bot is in it, without which it can neither post nor read there. */
  botIsMember: boolean;
}

export interface MessageContent {
  text: string;
  blocks?: KnownBlock[];
  metadata?: MessageMetadata;
  /** When it went out, in epoch milliseconds. */
  at: number;
}

/** A message that went out, as people see it now. */
export interface SlackMessage extends MessageContent {
  /** By chat.postMessage; by a response URL, seen by one person; by a response URL, seen by everybody in the channel. */
  kind: 'message' | 'ephemeral' | 'response';
  channel: string;
  /** Who sees it, where that is one person. */
  userId?: string;
  /** Its time in Slack's form, and its id within the channel: `1763640000.000100` */
  ts: string;
  /** What it said before, the oldest first. */
  replaced?: MessageContent[];
}

/** A modal as it is now. One that is taken out of the list is closed. */
export interface StandInView {
  id: string;
  /** Another one after each update. */
  hash: string;
  view: ModalView;
  userId: string;
  /** When this was shown, in epoch milliseconds. */
  at: number;
  /** What it showed before, the oldest first. */
  replaced: { view: ModalView; hash: string; at: number }[];
}

/** Where the app is installed. */
export interface Installation {
  teamId: string;
  /** Of the organization that the workspace is part of. */
  enterpriseId?: string;
  /** Whether the app is installed for all workspaces of the organization. */
  isEnterpriseInstall: boolean;
}

/** What is in the workspace and what went out to it, in memory. All of it may be changed from outside. */
export interface Workspace {
  clock: Clock;
  installation: Installation;
  users: Map<string, SlackUser>;
  channels: Map<string, SlackChannel>;
  /** The ids of its people, by the id of the group. */
  userGroups: Map<string, string[]>;
  /** Of the app; undefined for all. */
  scopes?: ReadonlySet<string>;
  messages: SlackMessage[];
  views: StandInView[];
  triggers: Triggers;
  stamps: Stamps;
}

export const TEAM_ID = 'T0RELAY01';
export const APP_ID = 'A0RELAY01';
export const BOT = { id: 'B0RELAY01', userId: 'U0RELAYBOT', name: 'partner-relay' } as const;

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

/** `V01JAN8Q0C` for a view. */
export function nextId({ stamps }: Workspace, prefix: string): string {
  return `${prefix}0${stamps.nextNumber().toString(36).toUpperCase()}`;
}

/** The conversation of the bot with one person. */
export function directMessage(userId: string): string {
  return `D${userId.slice(1)}`;
}

/** The person at the other end, where a channel is the conversation with one. */
export function otherEnd({ users }: Workspace, channel: string): SlackUser | undefined {
  return [...users.values()].find(({ id }) => directMessage(id) === channel);
}
