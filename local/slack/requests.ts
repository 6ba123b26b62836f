import type { Button } from '@slack/types';
import { escaped } from '../../lib/platforms/slack/mrkdwn.ts';
import type { SlackInMemory } from './stand-in.ts';
import type { SlackMessage } from './workspace.ts';

/**
 * Requests from Slack to the app, with the fields that the relay reads, and without fields that Slack calls deprecated.
 */

/** A person and the place where they are. */
export interface Whereabouts {
  userId: string;
  channelId: string;
}

/**
 * `/pm …` as a person types it: https://docs.slack.dev/interactivity/implementing-slash-commands
 * @throws {Error} if the text is not a command
 */
export function commandForm(
  standIn: SlackInMemory,
  typed: string,
  { userId, channelId }: Whereabouts,
): URLSearchParams {
  const [, command, text = ''] = /^(\/\S+)\s*(.*)$/s.exec(typed.trim()) ?? [];
  if (command === undefined) throw new Error('a command begins with a slash, such as /pm help');
  return new URLSearchParams({
    team_id: standIn.installation.teamId,
    command,
    text: asSent(text),
    user_id: userId,
    channel_id: channelId,
    user_name: nameOf(standIn, userId),
    trigger_id: standIn.makeTriggerId(userId),
    response_url: standIn.makeResponseUrl({ userId, channelId }),
  });
}

/** Escapes typed text as Slack does, except mentions. */
export function asSent(typed: string): string {
  return escaped(typed).replaceAll(/&lt;([@#!][\w^]+(?:\|[^<>&]*)?)&gt;/g, '<$1>');
}

/**
 * A pressed button of a message: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
 * @throws {Error} if the message has no such button
 */
export function buttonForm(
  standIn: SlackInMemory,
  source: SlackMessage,
  action: { actionId: string; value?: string },
  userId: string,
): URLSearchParams {
  const pressed = buttonsOf(source).find(
    ({ action_id, value }) => action_id === action.actionId && (action.value === undefined || value === action.value),
  );
  if (!pressed) throw new Error('the message has no such button any more');
  return payloadForm({
    type: 'block_actions',
    ...who(standIn, userId),
    channel: { id: source.channel, name: standIn.channels.get(source.channel)?.name ?? 'directmessage' },
    trigger_id: standIn.makeTriggerId(userId),
    response_url: standIn.makeResponseUrl({ userId, channelId: source.channel, source }),
    actions: [{ ...pressed, action_ts: source.ts }],
    // Slack leaves out messages that only one person sees.
    ...(source.kind !== 'ephemeral' && { message: { ts: source.ts, text: source.text, blocks: source.blocks } }),
  });
}

export function buttonsOf({ blocks = [] }: SlackMessage): Button[] {
  const elements = blocks.flatMap((block): { type: string }[] => {
    if (block.type === 'actions') return block.elements;
    return block.type === 'section' && block.accessory ? [block.accessory] : [];
  });
  return elements.filter((element): element is Button => element.type === 'button');
}

const payloadForm = (payload: object) => new URLSearchParams({ payload: JSON.stringify(payload) });

function who(standIn: SlackInMemory, userId: string): object {
  return { team: { id: standIn.installation.teamId }, user: { id: userId, name: nameOf(standIn, userId) } };
}

const nameOf = ({ users }: SlackInMemory, userId: string) => users.get(userId)?.name ?? userId;
