import * as z from 'zod/mini';
import type { SlackSender } from './admission.ts';
import { given, name, parsed, typed } from './fields.ts';
import { formIn, isCertificateCheck } from './form.ts';

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
 * Reads a request from Slack. The body is a form. An interaction is JSON in one of its fields, which `readInteraction`
 * of interaction.ts reads.
 *
 * @throws {SlackRequestError}
 */
export function readSlackRequest(body: Uint8Array) {
  if (isCertificateCheck(body)) return { kind: 'certificate check' as const };
  const form = formIn(body);
  const payload = form.get('payload');
  return payload === null ? readCommand(Object.fromEntries(form)) : { kind: 'interaction' as const, payload };
}

/** `/pm …`. https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling */
export type SlackCommand = ReturnType<typeof readCommand>;

function readCommand(form: unknown) {
  const read = parsed('command', command, form);
  const sender: SlackSender = { userId: read.user_id, teamId: read.team_id, enterpriseId: read.enterprise_id };
  return {
    kind: 'command' as const,
    ...sender,
    triggerId: read.trigger_id,
    userName: read.user_name ?? read.user_id,
    channelId: read.channel_id,
    /** The text after the command as sent by Slack: mrkdwn, with `&`, `<` and `>` escaped. */
    text: read.text,
    responseUrl: read.response_url,
  };
}
