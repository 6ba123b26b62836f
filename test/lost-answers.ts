import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
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

type Send = (command: { input: object }, ...others: unknown[]) => Promise<unknown>;

/** Has SQS lose answers from now on, for every client of this process, as the tables of tests do. */
export function loseAnswers(): void {
  const prototype = SQSClient.prototype as unknown as { send: Send };
  if (Object.hasOwn(prototype, 'send')) return;
  const { send } = prototype;
  const isLost = losingAnswers(LOSES_ONE_IN);
  const sendLosing: Send = function (this: unknown, command, ...others) {
    const carryOut = () => send.call(this, command, ...others);
    return isLost(command.input) ? carryOutTwice(carryOut) : carryOut();
  };
  // The clients inherit their sending, so that an own one hides it.
  Object.defineProperty(prototype, 'send', { value: sendLosing, configurable: true });
}

/** Has AWS answer clients that are new from now on. Other tests of this process may have made it lose answers. */
export function keepAnswers(): void {
  Reflect.deleteProperty(DynamoDBClient.prototype, 'send');
  Reflect.deleteProperty(SQSClient.prototype, 'send');
}
