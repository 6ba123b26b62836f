import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';

/**
 * Of conditional writes and messages, which a repetition could double, some lose their answers.
 *
 * @param every one of so many
 * @returns tells of one request after the other whether its answer is lost
 */
export function losingAnswers(every: number): (input: object) => boolean {
  let count = 0;
  return (input) => {
    const isRisky = ('ConditionExpression' in input && input.ConditionExpression) || 'MessageBody' in input;
    return Boolean(isRisky) && ++count % every === 0;
  };
}

/** Few enough that most tests see some, and not always the same ones. */
export const LOSES_ONE_IN = 7;

/** Carries a request out, and once more as the SDK does whose answer was lost. @returns the second answer */
export async function carryOutTwice<T>(carryOut: () => Promise<T>, meanwhile?: () => Promise<void>): Promise<T> {
  await carryOut().catch(() => {});
  await meanwhile?.();
  return carryOut().catch((error: Error) => {
    throw Object.assign(error, { $metadata: { attempts: 2 } });
  });
}

/** Has AWS answer clients that are new from now on. Other tests of this process may have made it lose answers. */
export function keepAnswers(): void {
  for (const { prototype } of [DynamoDBClient, SQSClient, SecretsManagerClient])
    Reflect.deleteProperty(prototype, 'send');
}
