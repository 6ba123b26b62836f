import { createHmac } from 'node:crypto';
import { isSameText } from '../../state/http/signatures.ts';
import { traceOf } from '../../state/http/trace.ts';
import { parsedJson } from '../../text.ts';
import { type CustomAutomations, customOf } from '../../triggers/custom-automation.ts';
import { PayloadError, payloads } from './payload.ts';

/**
 * A delivery of GitHub to a webhook.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
 */
export interface GithubDelivery {
  /** `X-GitHub-Event`, such as `issues`. */
  event: string;
  /** `X-GitHub-Delivery`. A redelivery has the same one. */
  deliveryId: string;
  payload: Record<string, unknown>;
  /** The trace of a proxy between GitHub and the relay. GitHub itself sends none. */
  trace?: string;
}

/** The events that automations accept, including custom ones. Redelivery ignores all other events. */
export const takenEvents = (custom: CustomAutomations): ReadonlySet<string> =>
  new Set([
    ...Object.keys(payloads),
    ...customOf(custom, 'github').flatMap(({ events }) => events.map((event) => event.replace(/\..*/, ''))),
  ]);

/**
 * Returns how long GitHub can redeliver a delivery: 3 days, or 7 days on GitHub Enterprise Server.
 * https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
 *
 * @param apiUrl `https://api.github.com`; on GitHub Enterprise Server, it ends in `/api/v3`
 */
export function keptForMs(apiUrl: string): number {
  return (/\/api\/v3\/?$/.test(apiUrl) ? 7 : 3) * 86_400_000;
}

/**
 * Checks in constant time that `X-Hub-Signature-256` is the signature of these bytes under the secret.
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export function isSignedByGithub(body: Uint8Array, signature: string, secret: string): boolean {
  return isSameText(signature, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
}

/**
 * Reads a delivery from the signed bytes.
 *
 * @param headers with lowercase names
 * @throws {PayloadError} for missing headers, and for a body that is neither JSON nor GitHub's form encoding
 */
export function readDelivery(body: Uint8Array, headers: Readonly<Record<string, string | undefined>>): GithubDelivery {
  const event = headers['x-github-event'];
  const deliveryId = headers['x-github-delivery'];
  if (!event) throw new PayloadError('the header X-GitHub-Event is missing; GitHub sends it with each delivery');
  if (!deliveryId)
    throw new PayloadError('the header X-GitHub-Delivery is missing; GitHub sends it with each delivery');
  return { event, deliveryId, payload: readPayload(body, headers['content-type'] ?? ''), ...traceOf(headers) };
}

function readPayload(body: Uint8Array, contentType: string): Record<string, unknown> {
  let text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    const field = new URLSearchParams(text).get('payload');
    if (field === null) throw new PayloadError('the form has no field "payload"');
    text = field;
  }
  const payload = parsedJson(text);
  if (payload === undefined) throw new PayloadError('the payload is not JSON');
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw new PayloadError('the payload is not a JSON object');
  }
  return payload as Record<string, unknown>;
}
