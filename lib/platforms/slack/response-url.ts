import { SEAL_IV_BYTES, SealBroken, seal, sealKey, unseal } from '../../seal.ts';
import { type Secrets, slackSigningSecret } from '../../state/secrets/secrets.ts';
import type { SlackMessage } from './messages.ts';

/** Slack accepts five messages there within 30 minutes. One minute is subtracted for clock differences. */
export const RESPONSE_URL_LIVES_MS = 29 * 60_000;

const TIMEOUT_MS = 5_000;
/** The time-out while Slack waits for an answer to its request. */
export const ANSWER_TIMEOUT_MS = 1_000;

/** Sends answers to the response URLs of commands and interactions. */
export type ResponseUrls = ReturnType<typeof createResponseUrls>;

/** @param apiUrl the Web API's URL, which determines the Slack instance: `https://slack.com/api` */
export function createResponseUrls(apiUrl: string, fetch: typeof globalThis.fetch) {
  const origin = originFor(new URL(apiUrl));
  const isOurs = (url: string) => URL.canParse(url) && new URL(url).origin === origin;
  return {
    /** True if the URL belongs to Slack. Other URLs are never called, so that outcomes go only to Slack. */
    isOurs,
    /**
     * Sends a message that only the person sees to a response_url. It replaces the original message or follows it. The
     * answer to a command cannot be replaced (https://github.com/slackapi/bolt-js/issues/2287), so there the message
     * always follows. https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
     *
     * @returns the status of the answer; undefined if none came or the URL is not Slack's
     */
    async respond(
      url: string,
      { text, blocks }: SlackMessage,
      where: 'instead' | 'beside',
      timeoutMs: number = TIMEOUT_MS,
    ): Promise<number | undefined> {
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

/**
 * A response_url lets anyone who has it write to the person in the app's name for half an hour. So a stored job has it
 * sealed with the signing secret, which intake and the worker can read and people who read the table cannot.
 *
 * @returns Base64
 */
export async function sealUrl(
  url: string,
  jobId: string,
  { secrets, randomBytes }: { secrets: Secrets; randomBytes: (size: number) => Uint8Array },
): Promise<string> {
  const { signingSecret } = await secrets.current('slack', slackSigningSecret);
  const sealed = seal(sealKey(signingSecret, 'response_url'), url, [jobId], randomBytes(SEAL_IV_BYTES));
  return Buffer.from(sealed).toString('base64');
}

/** @returns undefined if it belongs to another job, or the signing secret has changed since */
export async function unsealUrl(sealed: string, jobId: string, secrets: Secrets): Promise<string | undefined> {
  const { signingSecret } = await secrets.current('slack', slackSigningSecret);
  try {
    return unseal([sealKey(signingSecret, 'response_url')], Buffer.from(sealed, 'base64'), [jobId]);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
