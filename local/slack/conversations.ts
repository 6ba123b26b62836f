import { type Arguments, isTrue, required, SlackError } from './call-arguments.ts';
import { publicMessage } from './chat.ts';
import { directMessage, otherEnd, type SlackMessage, type Workspace } from './workspace.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 999;

/** https://docs.slack.dev/reference/methods/conversations.open, with one person */
export function openConversation({ users }: Workspace, args: Arguments): Record<string, unknown> {
  const user = users.get(required(args, 'users'));
  if (!user) throw new SlackError('user_not_found');
  if (user.deleted) throw new SlackError('user_disabled');
  return { channel: { id: directMessage(user.id) } };
}

/** https://docs.slack.dev/reference/methods/conversations.info, for a channel */
export function channelInfo(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const channel = workspace.channels.get(required(args, 'channel'));
  if (!channel) throw new SlackError('channel_not_found');
  return { channel: { id: channel.id, name: channel.name, is_member: channel.botIsMember, is_archived: false } };
}

/** https://docs.slack.dev/reference/methods/conversations.history: newest first, without ephemeral messages. */
export function readHistory(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const channel = readable(workspace, required(args, 'channel'));
  const limit = Math.min(Math.max(Number(args.limit) || DEFAULT_LIMIT, 1), MAX_LIMIT);
  const oldest = Number(args.oldest ?? 0);
  const before = afterCursor(args.cursor);
  const found = workspace.messages
    .filter((message) => message.channel === channel && message.kind !== 'ephemeral')
    .filter((message) => Number(message.ts) > oldest && before(message))
    .toSorted((a, b) => (a.ts < b.ts ? 1 : -1));
  const page = found.slice(0, limit);
  const next = found.length > limit ? page.at(-1) : undefined;
  return {
    messages: page.map((message) => publicMessage(message, isTrue(args.include_all_metadata))),
    has_more: next !== undefined,
    ...(next && { response_metadata: { next_cursor: cursorAfter(next) } }),
  };
}

/**
 * The scope for a direct message or a channel. The stand-in does not distinguish `groups:history` for private channels.
 */
export function historyScope(workspace: Workspace, { channel = '' }: Arguments): string {
  return otherEnd(workspace, channel) ? 'im:history' : 'channels:history';
}

function readable(workspace: Workspace, id: string): string {
  const channel = workspace.channels.get(id);
  if (channel?.botIsMember === false) throw new SlackError('not_in_channel');
  if (!channel && !otherEnd(workspace, id)) throw new SlackError('channel_not_found');
  return id;
}

/** Base64, as Slack's cursors are: https://docs.slack.dev/apis/web-api/pagination */
function cursorAfter({ ts }: SlackMessage): string {
  return Buffer.from(`next_ts:${ts}`).toString('base64');
}

function afterCursor(cursor = ''): (message: SlackMessage) => boolean {
  if (cursor === '') return () => true;
  const ts = /^next_ts:(\d+\.\d{6})$/.exec(Buffer.from(cursor, 'base64').toString('utf8'))?.[1];
  if (ts === undefined) throw new SlackError('invalid_cursor');
  return (message) => message.ts < ts;
}
