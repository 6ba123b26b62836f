import * as z from 'zod/mini';
import type { SlackSender } from './admission.ts';
import { given, name, parsed, SlackRequestError, typed } from './fields.ts';
import type { SlackInteraction } from './interaction.ts';

/** `/pm …`. https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling */
export interface SlackCommand extends SlackSender {
  kind: 'command';
  triggerId: string;
  userName: string;
  channelId: string;
  /** The text after the command, as plain text. */
  text: string;
  responseUrl: string;
}

/** `certificate check`: Slack checks that the URL answers over TLS. */
export type SlackRequest = SlackCommand | SlackInteraction | { kind: 'certificate check' };

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
export async function readSlackRequest(body: Uint8Array): Promise<SlackRequest> {
  const form = new URLSearchParams(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  if (form.has('ssl_check')) return { kind: 'certificate check' };
  const payload = form.get('payload');
  if (payload === null) return readCommand(Object.fromEntries(form));
  let json: unknown;
  try {
    json = JSON.parse(payload);
  } catch {
    throw new SlackRequestError('the field "payload" is not JSON');
  }
  // A command, the usual request, does not load this.
  const { readInteraction } = await import('./interaction.ts');
  return readInteraction(json);
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
