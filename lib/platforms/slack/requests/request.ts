import * as z from 'zod/mini';
import type { SlackSender } from './admission.ts';
import { given, name, parsed, typed } from './fields.ts';

/** `/pm …`. https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling */
export interface SlackCommand extends SlackSender {
  kind: 'command';
  triggerId: string;
  userName: string;
  channelId: string;
  /** The text after the command, as Slack sends it: mrkdwn, with `&`, `<` and `>` escaped. */
  text: string;
  responseUrl: string;
}

export type SlackRequest =
  | SlackCommand
  /** Something that a person did in a message or a form: `readInteraction` of interaction.ts reads it. */
  | { kind: 'interaction'; payload: string }
  /** Slack checks that the URL answers over TLS. */
  | { kind: 'certificate check' };

const command = z.object({
  command: z.string(),
  trigger_id: given,
  team_id: z.optional(z.string()),
  enterprise_id: z.optional(z.string()),
  user_id: given,
  user_name: z.optional(name),
  channel_id: given,
  text: z._default(typed, ''),
  response_url: z.url(),
});

/**
 * Reads a request from Slack. Its body is a form; an interaction is JSON in one field of the form.
 * @throws {SlackRequestError}
 */
export function readSlackRequest(body: Uint8Array): SlackRequest {
  const form = new URLSearchParams(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  if (form.has('ssl_check')) return { kind: 'certificate check' };
  const payload = form.get('payload');
  return payload === null ? readCommand(Object.fromEntries(form)) : { kind: 'interaction', payload };
}

function readCommand(form: unknown): SlackCommand {
  const read = parsed('command', command, form);
  return {
    kind: 'command',
    triggerId: read.trigger_id,
    userId: read.user_id,
    teamId: read.team_id,
    enterpriseId: read.enterprise_id,
    userName: read.user_name ?? read.user_id,
    channelId: read.channel_id,
    text: read.text,
    responseUrl: read.response_url,
  };
}
