import type { SlackMessage } from './messages.ts';

/** Slack takes five messages there within 30 minutes; a minute less, for clocks that differ. */
export const RESPONSE_URL_LIVES_MS = 29 * 60_000;

const TIMEOUT_MS = 5_000;
/** Where Slack waits for an answer meanwhile. */
export const ANSWER_TIMEOUT_MS = 1_000;

/**
 * Sends a message, which only the person sees, to a response_url, instead of the message that it belongs to or beside
 * it. The answer to a command cannot be replaced (https://github.com/slackapi/bolt-js/issues/2287): what is sent follows.
 * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 *
 * @returns the status of the answer, or undefined where none came
 */
export async function respond(
  fetch: typeof globalThis.fetch,
  url: string,
  { text, blocks }: SlackMessage,
  where: 'instead' | 'beside',
  timeoutMs = TIMEOUT_MS,
): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: where === 'instead', text, blocks }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.status;
  } catch {
    return undefined;
  }
}
