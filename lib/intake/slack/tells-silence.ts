import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { isSilence } from '../../aws-limits.ts';
import type { SignedRequest } from '../../platforms/slack/requests/verified.ts';

/**
 * Answers a person if AWS does not answer in time. Ignores unsigned requests.
 *
 * @param slash the app's command, such as `/pm`
 */
export function tellsSilence(
  slash: string,
  log: Pick<Console, 'error'>,
): MiddlewareObj<SignedRequest, APIGatewayProxyStructuredResultV2> {
  return {
    onError: async ({ error, event }) => {
      if (!isSilence(error) || !event.isSigned) return undefined;
      log.error({ message: 'AWS did not answer in time', error: String(error) });
      const { answerInSilence } = await import('./loaded-on-demand.ts');
      return answerInSilence(event.bytes, slash);
    },
  };
}
