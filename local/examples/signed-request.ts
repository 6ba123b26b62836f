import { createHmac, randomUUID } from 'node:crypto';
import { formOf, keyOf } from '../../lib/intake/hooks/is-genuine.ts';
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
 * A webhook of another tool, signed as its automation verifies it.
 *
 * @param secret of the webhook; for Standard Webhooks `whsec_…`
 * @param headers further headers that the tool sends
 */
export function signedByTool(
  verify: Verification,
  body: string,
  secret: string,
  { now = Date.now(), headers }: { now?: number; headers?: Readonly<Record<string, string>> | undefined } = {},
): SignedRequest {
  const others = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const proven = proof(verify, body, secret, now);
  return { headers: { 'content-type': 'application/json', ...Object.fromEntries(others), ...proven }, body };
}

function proof(verify: Verification, body: string, secret: string, now: number): Record<string, string> {
  if (verify.by === 'token') return { [verify.header.toLowerCase()]: secret };
  const form = formOf(verify, {});
  const placed = (form.signs.match(/\{(part|header):[^}]*\}/g) ?? []).map((place) => {
    const [, from = '', name = ''] = /^\{(part|header):(.*)\}$/.exec(place) ?? [];
    return { place, from, name, value: `${from}:${name}` === form.time ? timeIn(form.unit, now) : randomUUID() };
  });
  const signed = form.signs.replace(/\{[^}]*\}/g, (place) => placed.find((one) => one.place === place)?.value ?? body);
  const signature = createHmac(form.hash, keyOf(verify, secret)).update(signed).digest(form.encoding);
  const parts = placed.filter(({ from }) => from === 'part').map(({ name, value }) => `${name}=${value}`);
  const headers = placed.filter(({ from }) => from === 'header').map(({ name, value }) => [name.toLowerCase(), value]);
  const separator = form.prefix.includes(',') ? ';' : ',';
  return {
    ...Object.fromEntries(headers),
    [form.header.toLowerCase()]: [...parts, `${form.prefix}${signature}`].join(separator),
  };
}

const timeIn = (unit: 's' | 'ms' | 'iso', now: number): string =>
  unit === 'iso' ? new Date(now).toISOString() : String(unit === 's' ? Math.floor(now / 1000) : now);
