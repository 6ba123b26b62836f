import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { VirtualTime } from '../budget/virtual-time.ts';
import type { DynamoDbModel } from './dynamodb-model.ts';
import type { FifoQueueModel } from './fifo-queue-model.ts';

/** What stands behind the SDK's clients. */
export interface AwsModels {
  table: DynamoDbModel;
  /** By the last part of their URLs. */
  queues: ReadonlyMap<string, FifoQueueModel>;
  /** Their JSON by their names. */
  secrets: ReadonlyMap<string, string>;
}

/** How long a request takes there and back, in milliseconds. */
const TRIP_MS = [5, 15] as const;

/**
 * Has the models answer the SDK's clients of this process, each request after a trip in virtual time; half of it lies
 * before the effect and half behind.
 *
 * @returns what gives the clients their own sending back
 */
export function connectAws({ table, queues, secrets }: AwsModels, time: VirtualTime, random: () => number): () => void {
  const queueOf = (url = ''): FifoQueueModel => {
    const queue = queues.get(url.slice(url.lastIndexOf('/') + 1));
    if (!queue) throw new Error(`there is no queue ${url}`);
    return queue;
  };

  function answerQueue(command: unknown): object {
    if (command instanceof SendMessageCommand) {
      const { QueueUrl, MessageBody = '', MessageGroupId = '', MessageDeduplicationId = '' } = command.input;
      queueOf(QueueUrl).send(MessageBody, MessageGroupId, MessageDeduplicationId);
      return {};
    }
    if (command instanceof ChangeMessageVisibilityCommand) {
      const { QueueUrl, ReceiptHandle = '', VisibilityTimeout = 0 } = command.input;
      queueOf(QueueUrl).changeVisibility(ReceiptHandle, VisibilityTimeout);
      return {};
    }
    throw new TypeError('the model of SQS does not know this command');
  }

  function answerSecret(command: unknown): object {
    if (!(command instanceof GetSecretValueCommand)) throw new TypeError('the model of Secrets Manager only reads');
    const { SecretId = '', VersionStage } = command.input;
    const secret = VersionStage === 'AWSCURRENT' ? secrets.get(SecretId) : undefined;
    if (secret === undefined) throw new ResourceNotFoundException({ message: SecretId, $metadata: {} });
    return { SecretString: secret, CreatedDate: new Date(0) };
  }

  const answers = new Map<object, (command: unknown) => object>([
    [DynamoDBClient.prototype, (command) => table.answer(command)],
    [SQSClient.prototype, answerQueue],
    [SecretsManagerClient.prototype, answerSecret],
  ]);
  for (const [prototype, answer] of answers) {
    async function send(command: unknown): Promise<object> {
      const [from, to] = TRIP_MS;
      const trip = from + random() * (to - from);
      await time.sleep(trip / 2);
      try {
        return answer(command);
      } finally {
        await time.sleep(trip / 2);
      }
    }
    // The clients inherit their sending, so that an own one hides it.
    Object.defineProperty(prototype, 'send', { value: send, configurable: true });
  }
  return () => {
    for (const prototype of answers.keys()) Reflect.deleteProperty(prototype, 'send');
  };
}
