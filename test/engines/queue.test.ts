import { setTimeout } from 'node:timers/promises';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { describe } from 'vitest';
import { QUEUE, type QueueServer, queueStatements } from '../local/queue-statements.ts';
import { startElasticMq } from './engines.ts';

async function startServer(): Promise<QueueServer> {
  const { endpoint, close } = await startElasticMq();
  const credentials = { accessKeyId: 'LOCAL', secretAccessKey: 'local' };
  const sqs = new SQSClient({ endpoint, region: 'elasticmq', credentials });
  let queues = 0;

  /** Creates a queue as infra/job-queue.ts deploys it. */
  async function create(name: string, attributes: Record<string, string> = {}): Promise<string> {
    const Attributes = {
      FifoQueue: 'true',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      ...attributes,
    };
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    return QueueUrl;
  }

  async function receiveFrom(QueueUrl: string) {
    const asked = { QueueUrl, MessageSystemAttributeNames: ['ApproximateReceiveCount' as const] };
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand(asked));
    if (!message) return undefined;
    const { MessageId: messageId = '', Body: body = '', ReceiptHandle: receiptHandle = '', Attributes } = message;
    return { messageId, body, receiptHandle, receiveCount: Number(Attributes?.ApproximateReceiveCount) };
  }

  return {
    async createQueue() {
      const name = `tested-${queues++}`;
      const dead = await create(`${name}-dead.fifo`);
      const QueueUrl = await create(`${name}.fifo`, {
        VisibilityTimeout: String(QUEUE.visibilityTimeoutMs / 1_000),
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: `arn:aws:sqs:elasticmq:000000000000:${name}-dead.fifo`,
          maxReceiveCount: QUEUE.maxReceiveCount,
        }),
      });
      return {
        name,
        async send(body, group, deduplicationId) {
          const ids = { MessageGroupId: group, MessageDeduplicationId: deduplicationId };
          await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body, ...ids }));
        },
        receive: () => receiveFrom(QueueUrl),
        async delete(ReceiptHandle) {
          await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        },
        changeVisibility: (ReceiptHandle, VisibilityTimeout) =>
          sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout })).then(
            () => true,
            () => false,
          ),
        pass: (seconds) => setTimeout(seconds * 1_000),
        async deadLetters() {
          const found = [];
          for (let one = await receiveFrom(dead); one; one = await receiveFrom(dead)) found.push(one.body);
          return found;
        },
      };
    },
    async close() {
      sqs.destroy();
      await close();
    },
  };
}

describe('on ElasticMQ', () =>
  queueStatements(startServer, ['deduplicates over all groups', 'receives nothing while it sets a message aside']));
