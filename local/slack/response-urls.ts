import { type Answer, json, text } from './answer.ts';
import { isTrue, SlackError, structured } from './call-arguments.ts';
import { readContent } from './message-content.ts';
import { nextId, type SlackMessage, type Workspace } from './workspace.ts';

/**
 * Five times within 30 minutes: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses.
 * Refused posts do not count (assumed).
 */
const MAX_USES = 5;
const LIFE_MS = 30 * 60_000;

/** The origin of a response URL: a command or, with a source, a button of that message. */
export interface RespondsTo {
  userId: string;
  channelId: string;
  source?: SlackMessage | undefined;
}

interface IssuedUrl extends RespondsTo {
  at: number;
  uses: number;
}

export function createResponseUrls(workspace: Workspace) {
  const urls = new Map<string, IssuedUrl>();
  return {
    /** @returns the path below `/response/` */
    make(about: RespondsTo): string {
      const id = `${about.channelId}/${nextId(workspace, 'R')}`;
      urls.set(id, { ...about, at: workspace.clock(), uses: 0 });
      return id;
    },
    respond(id: string, body: string): Answer {
      const url = urls.get(id);
      if (!url) return text(404, 'no_service');
      if (workspace.clock() - url.at > LIFE_MS) return refusedResponse('expired_url');
      if (url.uses >= MAX_USES) return refusedResponse('used_url');
      try {
        postOrReplace(workspace, url, structured(body, 'invalid_payload'));
      } catch (error) {
        if (error instanceof SlackError) return text(400, error.error);
        throw error;
      }
      url.uses += 1;
      return text(200, 'ok');
    },
  };
}

/**
 * The answer for an expired URL. Slack documents neither its status nor its text. These come from published
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

function postOrReplace(workspace: Workspace, about: RespondsTo, given: unknown): void {
  if (typeof given !== 'object' || given === null) throw new SlackError('invalid_payload');
  const fields: ResponseFields = given;
  const content = { ...readContent(fields), at: workspace.clock() };
  // A command has no message to replace, so Slack posts a new one: https://github.com/slackapi/bolt-js/issues/2287
  if (isTrue(fields.replace_original) && about.source) {
    delete about.source.blocks;
    delete about.source.metadata;
    Object.assign(about.source, content);
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
