import { createHmac } from 'node:crypto';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { HttpError, type RawRequest } from '../../../state/http/function-url.ts';
import { isSameText, isTimely, MAX_SKEW_SECONDS } from '../../../state/http/signatures.ts';
import { isAcceptedBySecret, type Secrets, slackSigningSecret } from '../../../state/secrets/secrets.ts';
import { isCertificateCheck } from './form.ts';

/** A request of the Slack app. */
export interface SignedRequest extends RawRequest {
  /** Set once the signature is verified. The time may still be unchecked. */
  isSigned?: true;
}

/**
 * Accepts only requests that Slack signed recently with a currently valid signing secret. Answers a certificate check
 * without a signature with an empty body.
 * @param now returns epoch milliseconds. A new process reads the time from the table, so it is called only for signed
 *   requests
 */
export function verifiedBySlack(
  secrets: Secrets,
  now: () => Promise<number>,
): MiddlewareObj<SignedRequest, APIGatewayProxyStructuredResultV2> {
  return {
    before: async ({ event }) => {
      const timestamp = event.headers['x-slack-request-timestamp'];
      const signature = event.headers['x-slack-signature'];
      if (!timestamp || !signature) {
        if (isCertificateCheck(event.bytes)) return { statusCode: 200, body: '' };
        throw new HttpError(401, 'the headers X-Slack-Request-Timestamp and X-Slack-Signature are missing');
      }
      const isSigned = await isAcceptedBySecret(secrets, 'slack', slackSigningSecret, ({ signingSecret }) =>
        isSignedBySlack(event.bytes, timestamp, signature, signingSecret),
      );
      if (!isSigned) {
        throw new HttpError(401, 'X-Slack-Signature does not match the body: check the signing secret');
      }
      event.isSigned = true;
      if (isTimely(timestamp, await now())) return undefined;
      throw new HttpError(401, `X-Slack-Request-Timestamp is more than ${MAX_SKEW_SECONDS / 60} minutes off`);
    },
  };
}

/**
 * Checks in constant time that `X-Slack-Signature` is the signature of these bytes and this timestamp.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 *
 * @param timestamp the value of `X-Slack-Request-Timestamp`
 */
function isSignedBySlack(body: Uint8Array, timestamp: string, signature: string, secret: string): boolean {
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  return isSameText(signature, `v0=${digest}`);
}
