import { createHmac } from 'node:crypto';
import type { SlackConfig } from '../lib/config/schema.ts';
import { TEAM_ID } from '../local/slack/workspace.ts';
import type { SignedRequest } from './signed-request.ts';

/** Slack's own example. https://docs.slack.dev/authentication/verifying-requests-from-slack */
export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

/** The text after the command. */
export const DONE = 'done 101';

/** The people who give them, counted from 1. */
export const personOf = (number: number): string => `U0${String(number).padStart(6, '0')}`;

/**
 * Makes signed commands that complete a checklist item, all with the same text. Each is from a different person,
 * because the relay asks before it repeats a person's command.
 */
export function doneCommands({ command, permissions }: SlackConfig): () => SignedRequest {
  const channelId = permissions.done?.channels?.[0] ?? 'C0GENERAL';
  let people = 0;
  return () => {
    people += 1;
    const person = personOf(people);
    const timestamp = String(Math.floor(Date.now() / 1_000));
    // https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling
    const body = new URLSearchParams({
      token: 'gIkuvaNzQIHg97ATvDxqgjtO',
      team_id: TEAM_ID,
      team_domain: 'example',
      channel_id: channelId,
      channel_name: 'general',
      user_id: person,
      user_name: `person-${person}`,
      command,
      text: DONE,
      api_app_id: 'A123456',
      is_enterprise_install: 'false',
      response_url: 'https://hooks.slack.com/commands/1234/5678',
      trigger_id: `13345224609.738474920.${person}`,
    }).toString();
    const digest = createHmac('sha256', SIGNING_SECRET).update(`v0:${timestamp}:${body}`).digest('hex');
    return {
      body,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${digest}`,
      },
    };
  };
}
