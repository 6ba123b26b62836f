import { type Answer, json, text } from './answer.ts';
import { isTrue } from './api-call.ts';
import { readContent } from './message-content.ts';
import { SlackError } from './slack-error.ts';
import { type MessageContent, nextId, type SlackMessage, type Workspace } from './workspace.ts';

/**
 * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses: five times within 30 minutes.
 * Refused posts do not count (assumed).
 */
const MAX_USES = 5;
const LIFE_MS = 30 * 60_000;

/** The origin of a response URL: a command, or an element of a message. */
export type RespondsTo = { userId: string; channelId: string } & (
  | { kind: 'command' }
  | { kind: 'action'; source: SlackMessage }
);

/** A response URL as it is kept over a restart. `source` is the time of the message in the channel. */
export interface KeptResponseUrl {
  id: string;
  at: number;
  uses: number;
  userId: string;
  channelId: string;
  source?: string | undefined;
}

export interface ResponseUrls {
  /** @returns the path below `/response/` */
  make(about: RespondsTo): string;
  respond(id: string, contentType: string | undefined, body: string): Answer;
  /** Those that have not expired. */
  valid(): KeptResponseUrl[];
  /** The messages that they came from must be in the workspace. */
  restore(urls: readonly KeptResponseUrl[]): void;
}

export function createResponseUrls(workspace: Workspace): ResponseUrls {
  const made = new Map<string, { about: RespondsTo; at: number; uses: number }>();
  return {
    make(about) {
      const id = `${about.channelId}/${nextId(workspace, 'R')}`;
      made.set(id, { about, at: workspace.clock(), uses: 0 });
      return id;
    },
    respond(id, contentType, body) {
      const url = made.get(id);
      if (!url) return text(404, 'no_service');
      if (workspace.clock() - url.at > LIFE_MS) return refusedResponse('expired_url');
      if (url.uses >= MAX_USES) return refusedResponse('used_url');
      try {
        if (!/^application\/json\b/i.test(contentType ?? '')) throw new SlackError('invalid_payload');
        carryOut(workspace, url.about, JSON.parse(body));
      } catch (error) {
        if (error instanceof SlackError) return text(400, error.error);
        if (error instanceof SyntaxError) return text(400, 'invalid_payload');
        throw error;
      }
      url.uses += 1;
      return text(200, 'ok');
    },
    valid: () =>
      [...made]
        .filter(([, { at }]) => workspace.clock() - at <= LIFE_MS)
        .map(
          ([
            id,
            {
              about: { userId, channelId, ...about },
              at,
              uses,
            },
          ]) => ({
            id,
            at,
            uses,
            userId,
            channelId,
            ...(about.kind === 'action' && { source: about.source.ts }),
          }),
        ),
    restore(urls) {
      for (const { id, at, uses, userId, channelId, source } of urls) {
        const message = workspace.messages.find(({ ts, channel }) => ts === source && channel === channelId);
        const origin = message ? { kind: 'action' as const, source: message } : { kind: 'command' as const };
        made.set(id, { about: { userId, channelId, ...origin }, at, uses });
      }
    },
  };
}

/**
 * The answer for an expired URL. Slack documents neither the status nor the text. These are from published
 * observations.
 */
export function refusedResponse(error: string): Answer {
  return json(404, { ok: false, error });
}

interface ResponseFields {
  text?: unknown;
  blocks?: unknown;
  metadata?: unknown;
  response_type?: unknown;
  replace_original?: unknown;
}

function carryOut(workspace: Workspace, about: RespondsTo, given: unknown): void {
  if (typeof given !== 'object' || given === null) throw new SlackError('invalid_payload');
  const fields: ResponseFields = given;
  const content = { ...readContent(fields), at: workspace.clock() };
  // A command has no message yet, so Slack posts a new one each time: https://github.com/slackapi/bolt-js/issues/2287
  if (isTrue(fields.replace_original) && about.kind === 'action') {
    replace(about.source, content);
    return;
  }
  const isPublic = fields.response_type === 'in_channel';
  workspace.messages.push({
    kind: isPublic ? 'response' : 'ephemeral',
    channel: about.channelId,
    ...(!isPublic && { userId: about.userId }),
    ts: workspace.stamps.nextTs(),
    ...content,
  });
}

function replace(message: SlackMessage, content: MessageContent): void {
  const { text, blocks, metadata, at } = message;
  message.replaced = [
    ...(message.replaced ?? []),
    { text, ...(blocks && { blocks }), ...(metadata && { metadata }), at },
  ];
  delete message.blocks;
  delete message.metadata;
  Object.assign(message, content);
}
