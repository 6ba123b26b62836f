import { createServer, type IncomingMessage } from 'node:http';
import { messageOf } from '../lib/text.ts';
import { AwsError, actionsOf } from './aws-actions.ts';
import type { FifoQueue } from './fifo-queue.ts';
import { listen } from './listen.ts';
import type { LocalSecrets } from './local-secrets.ts';
import { refusalOf } from './own-key.ts';
import { readBody } from './request-body.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * Serves the actions of SQS and Secrets Manager that the functions use, over AWS's JSON protocol.
 *
 * @param accessKeyId other keys are refused, because other users of the machine can reach the port
 */
export async function startAwsStandIn(queues: readonly FifoQueue[], secrets: LocalSecrets, accessKeyId: string) {
  const actions = actionsOf(queues, secrets);

  async function answer(request: IncomingMessage): Promise<unknown> {
    const refusal = refusalOf(request.headers, accessKeyId);
    if (refusal !== undefined) throw new AwsError('AccessDeniedException', refusal);
    const body = await readBody(request, MAX_BYTES);
    if (!body) throw new AwsError('RequestTooLarge', `the request is larger than ${MAX_BYTES} bytes`);
    const target = String(request.headers['x-amz-target']);
    const action = actions[target.split('.').at(-1) ?? ''];
    if (!action) throw new AwsError('UnknownOperationException', `the local stand-in does not know ${target}`);
    const answered = action(JSON.parse(body.toString()));
    // This protocol has dates in seconds.
    if (!('CreatedDate' in answered)) return answered;
    return { ...answered, CreatedDate: Number(answered.CreatedDate) / 1_000 };
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
        const code = error instanceof AwsError ? error.name : 'ValidationException';
        send(400, { __type: code, message: messageOf(error) });
      },
    );
  });
  const { url: endpoint, close } = await listen(server);
  return { endpoint, queueUrl: (name: string) => `${endpoint}/000000000000/${name}`, close };
}
