import type { SlackMessage } from './messages.ts';

/** Slack takes five messages there within 30 minutes; a minute less, for clocks that differ. */
export const RESPONSE_URL_LIVES_MS = 29 * 60_000;

const TIMEOUT_MS = 5_000;
/** Where Slack waits for an answer meanwhile. */
export const ANSWER_TIMEOUT_MS = 1_000;

/** Answers at the response URLs of commands and interactions. */
export interface ResponseUrls {
  /** Whether the URL is Slack's. Others are never called: what a job says goes to nobody else. */
  isOurs(url: string): boolean;
  /**
   * Sends a message, which only the person sees, to a response_url, instead of the message that it belongs to or beside
   * it. The answer to a command cannot be replaced (https://github.com/slackapi/bolt-js/issues/2287): what is sent
   * follows. https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
   *
   * @returns the status of the answer, or undefined where none came or the URL is not Slack's
   */
  respond(
    url: string,
    message: SlackMessage,
    where: 'instead' | 'beside',
    timeoutMs?: number,
  ): Promise<number | undefined>;
}

/** @param apiUrl of the Web API, which says which Slack it is: `https://slack.com/api` */
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

/** `https://hooks.slack.com`, GovSlack's `https://hooks.slack-gov.com`, or the origin of what stands in for Slack. */
function originFor({ hostname, origin }: URL): string {
  return /^slack(-gov)?\.com$/.test(hostname) ? `https://hooks.${hostname}` : origin;
}
