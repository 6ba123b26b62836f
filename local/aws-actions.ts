import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { FifoQueue } from './fifo-queue.ts';
import type { LocalSecrets } from './local-secrets.ts';

const sendMessage = z.object({
  QueueUrl: z.string(),
  MessageBody: z.string(),
  MessageGroupId: z.string().max(128),
  MessageDeduplicationId: z.string().max(128),
});
const changeMessageVisibility = z.object({
  QueueUrl: z.string(),
  ReceiptHandle: z.string(),
  VisibilityTimeout: z.int().min(0).max(43_200),
});
const getQueueAttributes = z.object({ QueueUrl: z.string() });
const getSecretValue = z.object({ SecretId: z.string(), VersionStage: z.string().default('AWSCURRENT') });

/** An error in AWS's form, also when the SDK throws it. `name` is its code. */
export class AwsError extends Error {
  override readonly name: string;
  readonly $fault = 'client';
  readonly $metadata = {};
  constructor(code: string, message: string) {
    super(message);
    this.name = code;
  }
}

/** The actions of SQS and Secrets Manager that the functions use, by name. */
export function actionsOf(
  queues: readonly FifoQueue[],
  secrets: Pick<LocalSecrets, 'get'>,
): Readonly<Record<string, (input: unknown) => object>> {
  const queueOf = (url: string): FifoQueue => {
    const queue = queues.find(({ name }) => url.endsWith(`/${name}`));
    if (!queue) throw new AwsError('QueueDoesNotExist', `there is no queue ${url}`);
    return queue;
  };
  return {
    SendMessage(input) {
      const { QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId } = sendMessage.parse(input);
      const sent = queueOf(QueueUrl).send(MessageBody, MessageGroupId, MessageDeduplicationId);
      // The SDK compares this digest with its own.
      return { MessageId: sent.messageId, MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') };
    },
    ChangeMessageVisibility(input) {
      const { QueueUrl, ReceiptHandle, VisibilityTimeout } = changeMessageVisibility.parse(input);
      if (!queueOf(QueueUrl).changeVisibility(ReceiptHandle, VisibilityTimeout)) {
        throw new AwsError('ReceiptHandleIsInvalid', 'the receipt handle is not the last of a message');
      }
      return {};
    },
    GetQueueAttributes(input) {
      const { QueueUrl } = getQueueAttributes.parse(input);
      const { deadLetters } = queueOf(QueueUrl.replace('-dead.fifo', '.fifo'));
      return { Attributes: { ApproximateNumberOfMessages: String(deadLetters.length) } };
    },
    GetSecretValue(input) {
      const { SecretId, VersionStage } = getSecretValue.parse(input);
      const version = secrets.get(SecretId, VersionStage);
      if (!version) throw new AwsError('ResourceNotFoundException', `there is no secret ${SecretId} (${VersionStage})`);
      return { Name: SecretId, SecretString: version.value, CreatedDate: new Date(version.createdAt) };
    },
  };
}
