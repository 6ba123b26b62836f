import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { jobMessage } from './queue.ts';
import { type RunJobOptions, runJob } from './run-job.ts';

/** What a Lambda needs to end in good order. */
const LAST_MOMENTS_MS = 1_000;

/**
 * Works on the messages that SQS brings, in their order. One that sleeps is reported as failed, so that SQS keeps it;
 * those behind it are then reported too, because a FIFO queue would otherwise let them overtake it.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export async function receiveMessages(
  { Records }: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  options: RunJobOptions,
): Promise<SQSBatchResponse> {
  for (const [index, record] of Records.entries()) {
    const message = jobMessage.parse(JSON.parse(record.body));
    const deadline = options.clock() + context.getRemainingTimeInMillis() - LAST_MOMENTS_MS;
    const receives = Number(record.attributes.ApproximateReceiveCount);
    const fate = await runJob(message, receives, deadline, options);
    if (fate === 'done') continue;
    await options.queue.sleep(record.eventSourceARN, record.receiptHandle, fate.sleepMs);
    return { batchItemFailures: Records.slice(index).map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }
  return { batchItemFailures: [] };
}
