import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { jobMessage } from '../line/queue.ts';
import { runJob } from './run-job.ts';
import type { Worker } from './worker.ts';

/** The time that the function needs to end by itself. */
const LAST_MOMENTS_MS = 1_000;

/**
 * Processes a batch of SQS messages in order. A message that sleeps is reported as failed, so that SQS keeps it. The
 * messages behind it are reported too, because a FIFO queue would otherwise let them overtake it.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export async function receiveMessages(
  { Records }: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  worker: Worker,
): Promise<SQSBatchResponse> {
  for (const [index, record] of Records.entries()) {
    const message = jobMessage.parse(JSON.parse(record.body));
    const deadline = worker.clock() + context.getRemainingTimeInMillis() - LAST_MOMENTS_MS;
    const { ApproximateReceiveCount, SentTimestamp } = record.attributes;
    const received = { ...message, receives: Number(ApproximateReceiveCount), sentAt: Number(SentTimestamp) };
    const fate = await runJob(received, deadline, worker);
    if (fate === 'done') continue;
    await worker.queue.sleep(record.eventSourceARN, record.receiptHandle, fate.sleepMs);
    return { batchItemFailures: Records.slice(index).map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }
  return { batchItemFailures: [] };
}
