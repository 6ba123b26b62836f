import type { KnownBlock } from '@slack/types';
import { type Arguments, required, SlackError } from './call-arguments.ts';
import { readContent } from './message-content.ts';
import { directMessage, otherEnd, type SlackMessage, type Workspace } from './workspace.ts';

/**
 * The limit for the text of all blocks together. Beyond it, Slack answers `msg_blocks_too_long`. The method's page
 * gives no number. Slack's maintainers state this one, and say that response URLs have no such limit:
 * https://github.com/slackapi/bolt-js/issues/2509, https://github.com/slackapi/bolt-js/issues/2867
 */
const MAX_BLOCKS_TEXT_LENGTH = 12_000;

/** https://docs.slack.dev/reference/methods/chat.postMessage */
export function postMessage(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const channel = destination(workspace, required(args, 'channel'));
  const content = readContent(args);
  if (textLength(content.blocks) > MAX_BLOCKS_TEXT_LENGTH) throw new SlackError('msg_blocks_too_long');
  const userId = otherEnd(workspace, channel)?.id;
  const message: SlackMessage = {
    kind: 'message',
    channel,
    ...(userId !== undefined && { userId }),
    ts: workspace.stamps.nextTs(),
    ...content,
    at: workspace.clock(),
  };
  workspace.messages.push(message);
  return { channel, ts: message.ts };
}

/** https://docs.slack.dev/reference/methods/chat.update */
export function updateMessage(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const [channel, ts] = [required(args, 'channel'), required(args, 'ts')];
  const message = workspace.messages.find((one) => one.kind === 'message' && one.channel === channel && one.ts === ts);
  if (!message) throw new SlackError('message_not_found');
  const content = readContent(args);
  if (textLength(content.blocks) > MAX_BLOCKS_TEXT_LENGTH) throw new SlackError('msg_blocks_too_long');
  // Without new metadata, the old metadata stays.
  Object.assign(message, content, { at: workspace.clock() });
  return { channel, ts };
}

/** The given channel, or the conversation with the given person. */
function destination(workspace: Workspace, id: string): string {
  const channel = workspace.channels.get(id);
  if (channel?.botIsMember === false) throw new SlackError('not_in_channel');
  if (channel) return id;
  const user = workspace.users.get(id) ?? otherEnd(workspace, id);
  if (!user || user.deleted) throw new SlackError('channel_not_found');
  return directMessage(user.id);
}

/** A message as Slack's API returns it. */
export function publicMessage(message: SlackMessage, withMetadata: boolean): Record<string, unknown> {
  const { ts, text, blocks, metadata } = message;
  return {
    ts,
    text,
    ...(blocks && { blocks }),
    ...(withMetadata && metadata && { metadata }),
  };
}

function textLength(blocks: readonly KnownBlock[] = []): number {
  let length = 0;
  JSON.stringify(blocks, (key, value) => {
    if (key === 'text' && typeof value === 'string') length += value.length;
    return value;
  });
  return length;
}
