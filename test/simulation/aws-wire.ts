import { AsyncLocalStorage } from 'node:async_hooks';
import { DynamoDBClient, ThrottlingException } from '@aws-sdk/client-dynamodb';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { carryOutTwice, losingAnswers } from '../lost-answers.ts';
import type { DynamoDbModel } from './dynamodb-model.ts';

/** What the SDK's client for SQS asks of a queue. */
interface Queue {
  send(body: string, group: string, deduplicationId: string, rounds: number): unknown;
  changeVisibility(receiptHandle: string, seconds: number): unknown;
  deadLetters?: readonly string[];
}

/** What stands behind the SDK's clients. */
export interface AwsModels {
  table: Pick<DynamoDbModel, 'answer'>;
  /** By the last part of their URLs. */
  queues: ReadonlyMap<string, Queue>;
  /** Their JSON by their names. */
  secrets: ReadonlyMap<string, string>;
  /** That the answers of the table are dated by; epoch milliseconds. */
  clock: () => number;
  /** Of so many conditional writes and messages, one loses its answer. */
  losesOneIn: number;
  trouble?: () => AwsTrouble | undefined;
  /** Lets the time of a silence pass. */
  sleep?: (ms: number) => Promise<void>;
  /** Takes note of a request to the table (`GetItem`) that was throttled so many times. */
  throttled?: (operation: string, times: number) => void;
}

/** As lib/aws-limits.ts has it. */
const ATTEMPTS = 3;

/**
 * The table throttles every request; nothing can be decrypted with the customer's key; or requests are not answered,
 * and every other one is not carried out either.
 */
export type AwsTrouble = 'throttled' | 'denied' | 'silent';

/** How long the SDK waits for a silent AWS, with all its tries (lib/aws-limits.ts). */
export const SILENCE_MS = 9_000;

/** What it then throws. */
export const silence = () =>
  Object.assign(new Error('AWS does not answer'), { name: 'TimeoutError', $metadata: { attempts: ATTEMPTS } });

/**
 * How many invocations of the worker, one after the other, led to what runs now. On AWS the SDK passes this on in
 * `X-Amzn-Trace-Id`, and SQS with the message.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const lineage = new AsyncLocalStorage<number>();

/** As the table, the queues and the secrets answer alike, if in other words. */
class KmsDenied extends Error {
  override readonly name = 'AccessDeniedException';
  override readonly message = 'Access to the KMS key is denied';
}

/** The longest group that SQS takes. */
const LONGEST_GROUP = 128;

/** What SQS says with these queues. */
export function queueAnswers(queues: ReadonlyMap<string, Queue>): (command: unknown) => object {
  const queueOf = (url = ''): Queue => {
    const queue = queues.get(url.slice(url.lastIndexOf('/') + 1));
    if (!queue) throw new Error(`there is no queue ${url}`);
    return queue;
  };
  return (command) => {
    if (command instanceof SendMessageCommand) {
      const { QueueUrl, MessageBody = '', MessageGroupId = '', MessageDeduplicationId = '' } = command.input;
      if (MessageGroupId.length > LONGEST_GROUP) throw new RangeError(`the group ${MessageGroupId} is too long`);
      queueOf(QueueUrl).send(MessageBody, MessageGroupId, MessageDeduplicationId, lineage.getStore() ?? 0);
      return {};
    }
    if (command instanceof ChangeMessageVisibilityCommand) {
      const { QueueUrl, ReceiptHandle = '', VisibilityTimeout = 0 } = command.input;
      queueOf(QueueUrl).changeVisibility(ReceiptHandle, VisibilityTimeout);
      return {};
    }
    if (command instanceof GetQueueAttributesCommand) {
      const { deadLetters = [] } = queueOf(command.input.QueueUrl?.replace('-dead.fifo', '.fifo'));
      return { Attributes: { ApproximateNumberOfMessages: String(deadLetters.length) } };
    }
    throw new TypeError('the model of SQS does not know this command');
  };
}

/** Carries a command to its effect, and the answer back. */
type Travel = (answer: () => object, command: object) => Promise<object>;

/**
 * Has the models answer the SDK's clients of this process. After a lost answer, the request is repeated as the SDK
 * does.
 *
 * @returns what gives the clients their own sending back
 */
export function connectAws(models: AwsModels, travel: Travel): () => void {
  const { table, queues, secrets, clock, losesOneIn, trouble, sleep, throttled } = models;

  function answerSecret(command: unknown): object {
    if (!(command instanceof GetSecretValueCommand)) throw new TypeError('the model of Secrets Manager only reads');
    const { SecretId = '', VersionStage } = command.input;
    const secret = VersionStage === 'AWSCURRENT' ? secrets.get(SecretId) : undefined;
    if (secret === undefined) throw new ResourceNotFoundException({ message: SecretId, $metadata: {} });
    return { SecretString: secret, CreatedDate: new Date(0) };
  }

  let silent = 0;
  async function fallSilent(carryOut: () => Promise<object>): Promise<never> {
    if (silent++ % 2 === 0) await carryOut().catch(() => {});
    await sleep?.(SILENCE_MS);
    throw silence();
  }

  const date = () => new Date(clock()).toUTCString();
  const isLost = losingAnswers(losesOneIn);
  function answerTable(command: { input: object }): object {
    if (trouble?.() === 'throttled') {
      throttled?.(command.constructor.name.replace(/Command$/, ''), ATTEMPTS);
      throw new ThrottlingException({ message: 'Throughput exceeds the maximum', $metadata: {} });
    }
    return { ...table.answer(command), $metadata: { date: date() } };
  }

  const answers = new Map<object, (command: { input: object }) => object>([
    [DynamoDBClient.prototype, answerTable],
    [SQSClient.prototype, queueAnswers(queues)],
    [SecretsManagerClient.prototype, answerSecret],
  ]);
  for (const [prototype, answer] of answers) {
    const send = (command: { input: object }) => {
      const carryOut = () =>
        travel(() => {
          if (trouble?.() === 'denied') throw new KmsDenied();
          return answer(command);
        }, command);
      if (trouble?.() === 'silent') return fallSilent(carryOut);
      return isLost(command.input) ? carryOutTwice(carryOut) : carryOut();
    };
    // The clients inherit their sending, so that an own one hides it.
    Object.defineProperty(prototype, 'send', { value: send, configurable: true });
  }
  return () => {
    for (const prototype of answers.keys()) Reflect.deleteProperty(prototype, 'send');
  };
}
