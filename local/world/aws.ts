import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { actionsOf } from '../aws-actions.ts';
import type { FifoQueue } from '../fifo-queue.ts';
import type { LocalSecrets } from '../local-secrets.ts';
import type { DynamoDbModel } from './dynamodb-model.ts';

/** What answers the SDK's clients. */
export interface AwsModels {
  table: Pick<DynamoDbModel, 'answer'>;
  queues: readonly FifoQueue[];
  secrets: Pick<LocalSecrets, 'get'>;
  /** For the dates of the table's answers; epoch milliseconds. */
  clock: () => number;
}

export interface Command {
  input: { TableName?: string; RequestItems?: object; QueueUrl?: string; SecretId?: string };
}

/** Carries out a command, and returns the answer. */
export type Carry = (answer: () => object, command: Command) => Promise<object>;

type Send = (command: Command, ...others: unknown[]) => Promise<object>;

/** Answers commands, by place. */
const places = new Map<string, (command: Command) => Promise<object>>();

/** The environment of a place's functions. Nothing listens at its endpoints. */
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
 * Makes the models answer all SDK clients of this process that address this place, without a socket. Other places are
 * reached as before.
 *
 * @returns ends it
 */
export function connectAws(place: string, models: AwsModels, carry: Carry): () => void {
  const answerOf = answersOf(models);
  for (const { prototype } of [DynamoDBClient, SQSClient, SecretsManagerClient]) reach(prototype as never);
  places.set(place, (command) => carry(() => answerOf(command), command));
  return () => void places.delete(place);
}

const sendings = new WeakSet<Send>();

/** Replaces `send`. Repeats that if something else has replaced or restored `send` since. */
function reach(prototype: { send: Send }): void {
  const { send } = prototype;
  if (sendings.has(send)) return;
  const sendToPlace: Send = function (this: unknown, command, ...others) {
    return places.get(placeOf(command.input))?.(command) ?? send.call(this, command, ...others);
  };
  sendings.add(sendToPlace);
  // The client classes inherit `send`, so their own property hides it.
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

/** One of so many risky requests loses its answer: those that a repetition could carry out twice. */
export const LOSES_ONE_IN = 7;

/**
 * Makes some conditional writes and messages lose their answers, and repeats them as the SDK does.
 *
 * @param every one of this many loses its answer
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

/** Carries out a request twice, as the SDK does after a lost answer. @returns the second answer */
export async function carryOutTwice<T>(carryOut: () => Promise<T>, meanwhile?: () => Promise<void>): Promise<T> {
  await carryOut().catch(() => {});
  await meanwhile?.();
  return carryOut().catch((error: Error) => {
    throw Object.assign(error, { $metadata: { attempts: 2 } });
  });
}
