import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDbModel } from './dynamodb-model.ts';

/** What the SDK's client for SQS asks of a queue. */
interface Queue {
  send(body: string, group: string, deduplicationId: string): unknown;
  changeVisibility(receiptHandle: string, seconds: number): unknown;
}

/** What stands behind the SDK's clients. */
export interface AwsModels {
  table: DynamoDbModel;
  /** By the last part of their URLs. */
  queues: ReadonlyMap<string, Queue>;
  /** Their JSON by their names. */
  secrets: ReadonlyMap<string, string>;
}

/** Carries a request to its effect, and the answer back. */
type Travel = (answer: () => object) => Promise<object>;

/**
 * Has the models answer the SDK's clients of this process.
 *
 * @returns what gives the clients their own sending back
 */
export function connectAws({ table, queues, secrets }: AwsModels, travel: Travel): () => void {
  const queueOf = (url = ''): Queue => {
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
    const send = (command: unknown) => travel(() => answer(command));
    // The clients inherit their sending, so that an own one hides it.
    Object.defineProperty(prototype, 'send', { value: send, configurable: true });
  }
  return () => {
    for (const prototype of answers.keys()) Reflect.deleteProperty(prototype, 'send');
  };
}
