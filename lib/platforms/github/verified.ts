import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { HttpError, type RawRequest } from '../../state/http/function-url.ts';
import { githubWebhookSecret, isAcceptedBySecret, type Secrets } from '../../state/secrets/secrets.ts';
import { isSignedByGithub } from './delivery.ts';

/** Accepts only requests that GitHub signed with a currently accepted webhook secret. */
export function verifiedByGithub(secrets: Secrets): MiddlewareObj<RawRequest, APIGatewayProxyStructuredResultV2> {
  return {
    before: async ({ event }) => {
      const signature = event.headers['x-hub-signature-256'];
      if (!signature) {
        throw new HttpError(
          401,
          'The header X-Hub-Signature-256 is missing. Set the webhook secret in the settings of the webhook on GitHub.',
        );
      }
      const isSigned = await isAcceptedBySecret(secrets, 'github-webhook', githubWebhookSecret, ({ webhookSecret }) =>
        isSignedByGithub(event.bytes, signature, webhookSecret),
      );
      if (isSigned) return;
      throw new HttpError(
        401,
        'X-Hub-Signature-256 does not match the body. Check that the webhook secret is the same on GitHub and in the relay.',
      );
    },
  };
}
