import type { RelayConfig } from '../../lib/config/schema.ts';
import type { Runtime } from '../../lib/runtime.ts';
import { contextUntil, functionsOf } from '../../local/world/functions.ts';
import type { TestRelay } from '../relay.ts';

/**
 * Works on the queues' messages as a worker that was deployed with another relay.config.ts, or with other differences.
 * @param messages the number of messages
 */
export async function workWith(
  relay: TestRelay,
  changes: Partial<RelayConfig>,
  runtime: Partial<Runtime> = {},
  messages = Number.POSITIVE_INFINITY,
): Promise<void> {
  const config = { ...relay.runtime.config, ...changes };
  const { work } = functionsOf(() => ({ ...relay.runtime, config, ...runtime }));
  let left = messages;
  for (const queue of relay.stack.queues) {
    for (let message = left > 0 && queue.receive(); message; message = left > 0 && queue.receive()) {
      left--;
      await work(
        queue,
        message,
        contextUntil(60_000, () => 0),
      );
    }
  }
}
