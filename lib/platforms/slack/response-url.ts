import type { SlackMessage } from './messages.ts';

/** Slack accepts five messages at a response URL within 30 minutes. One minute is subtracted for clock differences. */
export const RESPONSE_URL_LIVES_MS = 29 * 60_000;

const TIMEOUT_MS = 5_000;

/** Sends answers to the response URLs of commands and interactions. */
export type ResponseUrls = ReturnType<typeof createResponseUrls>;

/**
 * @param apiUrl the Web API's URL, which determines the Slack instance: `https://slack.com/api`
 * @param timeoutMs shorter while Slack waits for the answer to its own request
 */
export function createResponseUrls(apiUrl: string, fetch: typeof globalThis.fetch, timeoutMs = TIMEOUT_MS) {
  const origin = originFor(new URL(apiUrl));
  const isOurs = (url: string) => URL.canParse(url) && new URL(url).origin === origin;
  return {
    /** True if the URL belongs to Slack. The relay never calls other URLs, so that outcomes go only to Slack. */
    isOurs,
    /**
     * Sends a message to a response_url. Only the person sees it, `instead` of the original message or `beside` it.
     * With `for all`, everybody sees it instead of the original. The answer to a command cannot be replaced
     * (https://github.com/slackapi/bolt-js/issues/2287), so there the message always follows it.
     * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
     *
     * @param url undefined if Slack gives none, as in a form
     * @returns the status of the answer; undefined without an answer, or if the URL is not Slack's
     */
    async respond(
      url: string | undefined,
      { text, blocks }: SlackMessage,
      where: 'instead' | 'beside' | 'for all',
    ): Promise<number | undefined> {
      if (url === undefined || !isOurs(url)) return undefined;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: JSON.stringify({
            response_type: where === 'for all' ? 'in_channel' : 'ephemeral',
            replace_original: where !== 'beside',
            text,
            blocks,
          }),
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

/** `https://hooks.slack.com`, GovSlack's `https://hooks.slack-gov.com`, or the local stand-in's origin. */
function originFor({ hostname, origin }: URL): string {
  return /^slack(-gov)?\.com$/.test(hostname) ? `https://hooks.${hostname}` : origin;
}
