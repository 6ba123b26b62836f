import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { HttpError, type RawRequest } from '../../../state/http/function-url.ts';
import { isAcceptedBySecret, type Secrets, slackSigningSecret } from '../../../state/secrets/secrets.ts';
import { isSignedBySlack, isTimely, MAX_SKEW_SECONDS } from './signature.ts';

/** A request of the Slack app. */
export interface SignedRequest extends RawRequest {
  /** Once its signature was found to be Slack's. Its time may not be known yet. */
  isSigned?: true;
}

/**
 * Accepts only requests that Slack signed recently with a currently valid signing secret.
 * @param now returns the time in epoch milliseconds. A new process asks the table for it, so only a signed request gets
 * that far.
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
        throw new HttpError(401, 'the headers X-Slack-Request-Timestamp and X-Slack-Signature are missing');
      }
      const isSigned = await isAcceptedBySecret(secrets, 'slack', slackSigningSecret, ({ signingSecret }) =>
        isSignedBySlack(event.bytes, timestamp, signature, signingSecret),
      );
      if (!isSigned) {
        throw new HttpError(401, 'X-Slack-Signature does not match the body: check the signing secret');
      }
      event.isSigned = true;
      if (!isTimely(timestamp, await now())) {
        throw new HttpError(401, `X-Slack-Request-Timestamp is more than ${MAX_SKEW_SECONDS / 60} minutes off`);
      }
    },
  };
}
