import type { SlackMessage } from './messages.ts';

/** Slack accepts five messages there within 30 minutes. One minute is subtracted for clock differences. */
export const RESPONSE_URL_LIVES_MS = 29 * 60_000;

const TIMEOUT_MS = 5_000;
/** The time-out while Slack waits for an answer to its request. */
export const ANSWER_TIMEOUT_MS = 1_000;

/** Sends answers to the response URLs of commands and interactions. */
export interface ResponseUrls {
  /** True if the URL belongs to Slack. Other URLs are never called, so that outcomes go only to Slack. */
  isOurs(url: string): boolean;
  /**
   * Sends a message that only the person sees to a response_url. It replaces the original message or follows it. The
   * answer to a command cannot be replaced (https://github.com/slackapi/bolt-js/issues/2287), so there the message
   * always follows. https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
   *
   * @returns the status of the answer; undefined if none came or the URL is not Slack's
   */
  respond(
    url: string,
    message: SlackMessage,
    where: 'instead' | 'beside',
    timeoutMs?: number,
  ): Promise<number | undefined>;
}

/** @param apiUrl the Web API's URL, which determines the Slack instance: `https://slack.com/api` */
export function createResponseUrls(apiUrl: string, fetch: typeof globalThis.fetch): ResponseUrls {
  const origin = originFor(new URL(apiUrl));
  const isOurs = (url: string) => URL.canParse(url) && new URL(url).origin === origin;
  return {
    isOurs,
    async respond(url, { text, blocks }, where, timeoutMs = TIMEOUT_MS) {
      if (!isOurs(url)) return undefined;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: JSON.stringify({ response_type: 'ephemeral', replace_original: where === 'instead', text, blocks }),
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        });
        return response.status;
      } catch {
        return undefined;
      }
    },
  };
}

/** `https://hooks.slack.com`, GovSlack's `https://hooks.slack-gov.com`, or the origin of the local stand-in. */
function originFor({ hostname, origin }: URL): string {
  return /^slack(-gov)?\.com$/.test(hostname) ? `https://hooks.${hostname}` : origin;
}
