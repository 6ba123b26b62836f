import { createHmac, randomUUID } from 'node:crypto';
import { keyOf } from '../../lib/intake/hooks/is-genuine.ts';
import type { Verification } from '../../lib/triggers/webhook.ts';

/** A request that the relay's webhooks accept. */
export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

/**
 * A delivery as GitHub sends it.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
 *
 * @param body the payload, as JSON
 * @param id of the delivery; by default a new one
 */
export function signedByGithub(event: string, body: string, secret: string, id: string = randomUUID()): SignedRequest {
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/partner-relay',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  };
}

/**
 * A command or interaction as Slack sends it.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 *
 * @param now epoch milliseconds
 */
export function signedBySlack(form: URLSearchParams, secret: string, now = Date.now()): SignedRequest {
  const body = form.toString();
  const timestamp = Math.floor(now / 1000);
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': `v0=${digest}`,
    },
    body,
  };
}

/**
 * A webhook of another tool, signed as the automation that takes it verifies it.
 *
 * @param secret of the webhook; for Standard Webhooks `whsec_…`
 * @param now epoch milliseconds
 */
export function signedByTool(verify: Verification, body: string, secret: string, now = Date.now()): SignedRequest {
  const seconds = String(Math.floor(now / 1000));
  return { headers: { 'content-type': 'application/json', ...proof(verify, body, secret, seconds) }, body };
}

function proof(verify: Verification, body: string, secret: string, seconds: string): Record<string, string> {
  switch (verify.by) {
    case 'token':
      return { [verify.header]: secret };
    case 'hmac': {
      const { header, encoding, prefix, timestamp } = verify;
      const signed = timestamp === undefined ? body : `${seconds}.${body}`;
      const signature = createHmac('sha256', secret).update(signed).digest(encoding);
      return { ...(timestamp !== undefined && { [timestamp]: seconds }), [header]: `${prefix}${signature}` };
    }
    case 'standard': {
      const id = `msg_${randomUUID()}`;
      const key = keyOf(verify, secret);
      const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
      return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
    }
  }
}
