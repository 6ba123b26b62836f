import { createHmac, randomUUID } from 'node:crypto';

/** GitHub's published example secret. */
export const WEBHOOK_SECRET = "It's a Secret to Everybody";
/** Slack's published example secret. */
export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

export const GRANTS_KEY = { key: 'a key of the tests, long enough for it' };

/** Bytes as they arrive at a function URL. */
export interface Posted {
  url: '/github' | '/slack' | `/hooks/${string}`;
  headers: Record<string, string>;
  body: Buffer;
}

/** A delivery of GitHub with this payload. */
export function githubDelivery(
  event: string,
  payload: unknown,
  { id = randomUUID() as string, secret = WEBHOOK_SECRET } = {},
): Posted {
  const body = Buffer.from(JSON.stringify(payload));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': githubSignature(body, secret),
  };
  return { url: '/github', headers, body };
}

/** The `X-Hub-Signature-256` of a body. */
export function githubSignature(body: string | Uint8Array, secret = WEBHOOK_SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** A form as Slack sends it. @param now epoch milliseconds */
export function slackRequest(
  fields: Record<string, string> | URLSearchParams,
  now: number,
  secret = SIGNING_SECRET,
): Posted {
  const body = Buffer.from(new URLSearchParams(fields).toString());
  const timestamp = String(Math.floor(now / 1000));
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': slackSignature(body, timestamp, secret),
  };
  return { url: '/slack', headers, body };
}

export function slackSignature(body: string | Uint8Array, timestamp: number | string, secret = SIGNING_SECRET): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`;
}
