import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { RetryStrategyV2 } from '@smithy/types';

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

/** An error of the socket, after which the SDK repeats a request. */
export const lostConnection = () => Object.assign(new Error('the answer is lost'), { code: 'ECONNRESET' });

/**
 * Has AWS lose answers from now on, for every client of this process: the request is carried out, and the SDK repeats
 * it. It does so without a pause, because nobody waits for a better moment here.
 */
export function loseAnswers(): void {
  const isLost = losingAnswers(LOSES_ONE_IN);
  equipClients(DynamoDBClient.prototype, isLost);
  equipClients(SQSClient.prototype, isLost);
}

/** Has AWS answer clients that are new from now on. Other tests of this process may have made it lose answers. */
export function keepAnswers(): void {
  Reflect.deleteProperty(DynamoDBClient.prototype, 'send');
  Reflect.deleteProperty(SQSClient.prototype, 'send');
}

type Client = Pick<DynamoDBClient, 'config' | 'middlewareStack' | 'send'>;

function equipClients(prototype: object, isLost: (input: object) => boolean): void {
  if (Object.hasOwn(prototype, 'send')) return;
  const { send } = prototype as Client;
  const equipped = new WeakSet<object>();
  function sendEquipped(this: Client, ...args: Parameters<Client['send']>) {
    if (!equipped.has(this)) equip(this, isLost);
    equipped.add(this);
    return send.apply(this, args);
  }
  // The clients inherit their sending, so that an own one hides it.
  Object.defineProperty(prototype, 'send', { value: sendEquipped, configurable: true });
}

/** Which attempt it is. */
const attempt = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0 });

function equip({ config, middlewareStack }: Client, isLost: (input: object) => boolean): void {
  const strategy: RetryStrategyV2 = {
    acquireInitialRetryToken: async () => attempt(0),
    async refreshRetryTokenForRetry(last, { errorType }) {
      const next = last.getRetryCount() + 1;
      if (errorType === 'CLIENT_ERROR' || next >= (await config.maxAttempts())) throw new Error('no further attempt');
      return attempt(next);
    },
    recordSuccess() {},
  };
  config.retryStrategy = async () => strategy;
  middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      if (isLost(args.input)) throw lostConnection();
      return answer;
    },
    // Behind the SDK's repetitions.
    { step: 'deserialize', name: 'loseAnswers', priority: 'high' },
  );
}
