import type { RelayConfig } from '../../lib/config/schema.ts';
import type { Runtime } from '../../lib/runtime.ts';
import { asSqsHandler, deliver } from '../../local/event-source.ts';
import type { TestRelay } from '../relay.ts';

/**
 * Works on what the queues hold as a worker does that was deployed with another relay.config.ts, or differs otherwise.
 * @param messages how many it works on
 */
export async function workWith(
  relay: TestRelay,
  changes: Partial<RelayConfig>,
  runtime: Partial<Runtime> = {},
  messages = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { createHandler } = await import('../../functions/job-worker.ts');
  const config = { ...relay.runtime.config, ...changes };
  const handle = asSqsHandler(createHandler({ ...relay.runtime, config, ...runtime }));
  const context = { getRemainingTimeInMillis: () => 60_000, awsRequestId: '', functionName: '' };
  let left = messages;
  for (const queue of relay.stack.queues) {
    for (let message = left > 0 && queue.receive(); message; message = left > 0 && queue.receive()) {
      left--;
      await deliver(queue, message, (event) => handle(event, context));
    }
  }
}
