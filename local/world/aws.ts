import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { actionsOf } from '../aws-actions.ts';
import type { FifoQueue } from '../fifo-queue.ts';
import type { LocalSecrets } from '../local-secrets.ts';
import type { DynamoDbModel } from './dynamodb-model.ts';

/** What stands behind the SDK's clients. */
export interface AwsModels {
  table: Pick<DynamoDbModel, 'answer'>;
  queues: readonly FifoQueue[];
  secrets: Pick<LocalSecrets, 'get'>;
  /** That the answers of the table are dated by; epoch milliseconds. */
  clock: () => number;
}

export interface Command {
  input: { TableName?: string; RequestItems?: object; QueueUrl?: string; SecretId?: string };
}

/** Carries a command to its effect, and the answer back. */
export type Carry = (answer: () => object, command: Command) => Promise<object>;

type Send = (command: Command, ...others: unknown[]) => Promise<object>;

/** What answers, by the place that is asked. */
const places = new Map<string, (command: Command) => Promise<object>>();

/** The environment of the functions of a place. There is nothing at its endpoints. */
export const variablesAt = (place: string) => ({
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'LOCAL',
  AWS_SECRET_ACCESS_KEY: 'local',
  TABLE_NAME: place,
  INTERACTIVE_QUEUE_URL: `https://sqs.local/${place}/interactive.fifo`,
  BACKGROUND_QUEUE_URL: `https://sqs.local/${place}/background.fifo`,
  SECRET_PREFIX: `${place}/`,
  AWS_ENDPOINT_URL_DYNAMODB: 'http://aws.invalid',
  AWS_ENDPOINT_URL_SQS: 'http://aws.invalid',
  AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://aws.invalid',
});

/**
 * Has the models answer every client of the SDK in this process that asks this place, without a socket. Clients reach all
 * other places as before.
 *
 * @returns what ends it
 */
export function connectAws(place: string, models: AwsModels, carry: Carry): () => void {
  const answerOf = answersOf(models);
  for (const { prototype } of [DynamoDBClient, SQSClient, SecretsManagerClient]) reach(prototype as never);
  places.set(place, (command) => carry(() => answerOf(command), command));
  return () => void places.delete(place);
}

const sendings = new WeakSet<Send>();

/** Again if another sending was put in its place, or taken away with it. */
function reach(prototype: { send: Send }): void {
  const { send } = prototype;
  if (sendings.has(send)) return;
  const sendToPlace: Send = function (this: unknown, command, ...others) {
    return places.get(placeOf(command.input))?.(command) ?? send.call(this, command, ...others);
  };
  sendings.add(sendToPlace);
  // The clients inherit their sending, so that an own one hides it.
  Object.defineProperty(prototype, 'send', { value: sendToPlace, configurable: true });
}

function placeOf({ TableName, RequestItems = {}, QueueUrl, SecretId }: Command['input']): string {
  if (QueueUrl !== undefined) return QueueUrl.split('/').at(-2) ?? '';
  return TableName ?? SecretId?.split('/', 1)[0] ?? Object.keys(RequestItems).join();
}

function answersOf({ table, queues, secrets, clock }: AwsModels): (command: Command) => object {
  const actions = actionsOf(queues, secrets);
  return (command) => {
    const action = actions[command.constructor.name.replace(/Command$/, '')];
    if (action) return action(command.input);
    return { ...table.answer(command), $metadata: { date: new Date(clock()).toUTCString() } };
  };
}

/** How many of the requests that a repetition could double lose their answers: one in so many. */
export const LOSES_ONE_IN = 7;

/**
 * Some conditional writes and messages lose their answers, and are repeated as the SDK does.
 *
 * @param every one of so many
 */
export function losingAnswers(every: number, carry: Carry): Carry {
  let count = 0;
  return (answer, command) => {
    const { input } = command;
    const isRisky = ('ConditionExpression' in input && input.ConditionExpression) || 'MessageBody' in input;
    const carryOut = () => carry(answer, command);
    return isRisky && ++count % every === 0 ? carryOutTwice(carryOut) : carryOut();
  };
}

/** Carries a request out, and once more as the SDK does whose answer was lost. @returns the second answer */
export async function carryOutTwice<T>(carryOut: () => Promise<T>, meanwhile?: () => Promise<void>): Promise<T> {
  await carryOut().catch(() => {});
  await meanwhile?.();
  return carryOut().catch((error: Error) => {
    throw Object.assign(error, { $metadata: { attempts: 2 } });
  });
}
