import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { FifoQueue, ReceivedMessage } from './fifo-queue.ts';

/** The part of a Lambda's context that the functions use. */
export type LocalContext = Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId' | 'functionName'>;
export type SqsHandler = (event: SQSEvent, context: LocalContext) => Promise<SQSBatchResponse | undefined>;

/** Invokes the worker with one message. Deletes the message, unless the worker reports it as failed or throws. */
export async function deliver(
  queue: Pick<FifoQueue, 'name' | 'delete'>,
  message: ReceivedMessage,
  invoke: (event: SQSEvent) => ReturnType<SqsHandler>,
) {
  const { messageId, receiptHandle, body, receiveCount, sentAt } = message;
  // The fields of a record that the worker reads.
  const record = {
    ...{ messageId, receiptHandle, body, eventSourceARN: `arn:aws:sqs:local:000000000000:${queue.name}` },
    attributes: { ApproximateReceiveCount: String(receiveCount), SentTimestamp: String(sentAt) },
  } as SQSRecord;
  const failed = await invoke({ Records: [record] });
  if (!failed?.batchItemFailures.some(({ itemIdentifier }) => itemIdentifier === messageId))
    queue.delete(receiptHandle);
}

/**
 * Lambda's event source for the queues: one message per invocation, and a limit of parallel invocations per queue.
 *
 * @param maxConcurrency returns a queue's limit; called before each message is taken
 * @param failed gets the worker's errors; the message returns after the visibility timeout
 */
export function startEventSource(
  queues: readonly FifoQueue[],
  work: (queue: FifoQueue, message: ReceivedMessage, context: LocalContext) => Promise<void>,
  options: { maxConcurrency: (queue: FifoQueue) => number; timeoutMs: number; failed: (error: unknown) => void },
) {
  const running = new Map<FifoQueue, Set<Promise<void>>>(queues.map((queue) => [queue, new Set()]));
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function poll(): void {
    if (stopped) return;
    for (const [queue, invocations] of running) {
      while (invocations.size < options.maxConcurrency(queue)) {
        const message = queue.receive();
        if (!message) break;
        const end = Date.now() + options.timeoutMs;
        const context: LocalContext = {
          getRemainingTimeInMillis: () => end - Date.now(),
          awsRequestId: message.receiptHandle,
          functionName: 'job-worker',
        };
        const invocation = work(queue, message, context)
          .catch(options.failed)
          .finally(() => {
            invocations.delete(invocation);
            poll();
          });
        invocations.add(invocation);
      }
    }
    clearTimeout(timer);
    const wakeAt = Math.min(...queues.map((queue) => queue.nextWakeAt()));
    if (wakeAt !== Number.POSITIVE_INFINITY) timer = setTimeout(poll, Math.max(50, wakeAt - Date.now()));
  }

  return {
    /** Checks for messages now. */
    poll,
    /** Stops taking messages, and waits for those in progress. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([...running.values()].flatMap((invocations) => [...invocations]));
    },
  };
}
