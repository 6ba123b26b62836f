import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { messageOf } from '../lib/text.ts';
import type { FifoQueue } from './fifo-queue.ts';
import { listen } from './listen.ts';
import type { LocalSecrets } from './local-secrets.ts';
import { refusalOf } from './own-key.ts';
import { readBody } from './request-body.ts';

/** Larger than the largest message and the largest secret. */
const MAX_BYTES = 1024 * 1024;

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
const getSecretValue = z.object({ SecretId: z.string(), VersionStage: z.string().default('AWSCURRENT') });

/** An error as AWS reports it. */
class AwsError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The actions of SQS and Secrets Manager that the functions use, over AWS's JSON protocol.
 *
 * @param accessKeyId only requests with this access key are answered, because other users of the machine can reach the
 * port
 */
export async function startAwsStandIn(queues: readonly FifoQueue[], secrets: LocalSecrets, accessKeyId: string) {
  const queueOf = (url: string): FifoQueue => {
    const queue = queues.find((queue) => url.endsWith(`/${queue.name}`));
    if (!queue) throw new AwsError('QueueDoesNotExist', `there is no queue ${url}`);
    return queue;
  };
  const actions: Record<string, (input: unknown) => unknown> = {
    'AmazonSQS.SendMessage': (input) => {
      const { QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId } = sendMessage.parse(input);
      const sent = queueOf(QueueUrl).send(MessageBody, MessageGroupId, MessageDeduplicationId);
      // The SDK compares it with the digest of its own message.
      return { MessageId: sent.messageId, MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') };
    },
    'AmazonSQS.ChangeMessageVisibility': (input) => {
      const { QueueUrl, ReceiptHandle, VisibilityTimeout } = changeMessageVisibility.parse(input);
      if (!queueOf(QueueUrl).changeVisibility(ReceiptHandle, VisibilityTimeout)) {
        throw new AwsError('ReceiptHandleIsInvalid', 'the receipt handle is not the last of a message');
      }
      return {};
    },
    // The queues of this machine have no dead letters.
    'AmazonSQS.GetQueueAttributes': () => ({ Attributes: { ApproximateNumberOfMessages: '0' } }),
    'secretsmanager.GetSecretValue': (input) => {
      const { SecretId, VersionStage } = getSecretValue.parse(input);
      const version = secrets.get(SecretId, VersionStage);
      if (!version) throw new AwsError('ResourceNotFoundException', `there is no secret ${SecretId} (${VersionStage})`);
      return { Name: SecretId, SecretString: version.value, CreatedDate: version.createdAt / 1000 };
    },
  };

  async function answer(request: IncomingMessage): Promise<unknown> {
    const refusal = refusalOf(request.headers, accessKeyId);
    if (refusal !== undefined) throw new AwsError('AccessDeniedException', refusal);
    const body = await readBody(request, MAX_BYTES);
    if (!body) throw new AwsError('RequestTooLarge', `the request is larger than ${MAX_BYTES} bytes`);
    const target = String(request.headers['x-amz-target']);
    const action = actions[target];
    if (!action) throw new AwsError('UnknownOperationException', `the local stand-in does not know ${target}`);
    return action(JSON.parse(body.toString()));
  }

  const server = createServer((request, response) => {
    const send = (status: number, body: unknown) => {
      // The body of a refused request is not read.
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        ...(!request.complete && { connection: 'close' }),
      };
      response.writeHead(status, headers).end(JSON.stringify(body));
    };
    answer(request).then(
      (result) => send(200, result),
      (error: unknown) => {
        const code = error instanceof AwsError ? error.code : 'ValidationException';
        send(400, { __type: code, message: messageOf(error) });
      },
    );
  });
  const { url: endpoint, close } = await listen(server);
  return { endpoint, queueUrl: (name: string) => `${endpoint}/000000000000/${name}`, close };
}
