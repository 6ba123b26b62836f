import { createHmac } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { jsonAnswer, type RawRequest } from '../../state/http/function-url.ts';
import { parsedJson } from '../../text.ts';
import type { CustomOf } from '../../triggers/custom-automation.ts';
import { keyOf } from './is-genuine.ts';

/** Larger than any challenge; limits what is parsed of an unverified request. */
const MOST_BYTES = 4_096;

/**
 * Answers a challenge; returns undefined if the request is none. Before the webhook has a secret, every sender gets an
 * answer, which only repeats what they sent. Afterwards, and for an HMAC, the request must be verified: otherwise
 * strangers could have the relay sign their own requests.
 *
 * @param secret the secret that the sender has proven to know; undefined while the webhook has none
 */
export function challengeAnswer(
  { challenge, verify }: CustomOf<'webhook'>,
  { headers, bytes }: Pick<RawRequest, 'headers' | 'bytes'>,
  secret: string | undefined,
): APIGatewayProxyStructuredResultV2 | undefined {
  if (challenge === undefined || bytes.byteLength > MOST_BYTES) return undefined;
  if ('header' in challenge) {
    const value = headers[challenge.header.toLowerCase()];
    return value ? { statusCode: 200, headers: { [challenge.header]: value } } : undefined;
  }
  const { field, answer } = challenge;
  const body = parsedJson(Buffer.from(bytes).toString('utf8'));
  const value = field.split('.').reduce<unknown>((part, name) => Object(part)[name], body);
  if (typeof value !== 'string') return undefined;
  if (answer === undefined) return { statusCode: 200, headers: { 'content-type': 'text/plain' }, body: value };
  const hmac =
    verify.by === 'hmac' && secret !== undefined
      ? createHmac(verify.hash, keyOf(verify, secret)).update(value).digest('hex')
      : undefined;
  const filled = Object.entries(answer).map(([name, what]) => [name, what === '{hmac}' ? hmac : value]);
  return filled.every(([, text]) => text !== undefined) ? jsonAnswer(200, Object.fromEntries(filled)) : undefined;
}
