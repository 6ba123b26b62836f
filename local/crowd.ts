import type { QueueName } from '../lib/config/queues.ts';
import type { FifoQueue } from './fifo-queue.ts';
import type { HttpHandler } from './http-front.ts';

/** More unanswered requests than this are a crowd. */
const CROWD = 5;
/** During a crowd, background jobs wait at most this long, which is also how long GitHub waits for an answer. */
const BACKGROUND_WAITS_MS = 10_000;

/**
 * Tracks how busy the webhooks are. GitHub and people in Slack wait for an answer, while jobs can wait a little longer.
 *
 * @param clock returns milliseconds
 * @param calm is called when a crowd is over, so that more jobs may run
 * @param workers returns how many jobs of each queue run at once outside a crowd
 */
export function createCrowd(clock: () => number, calm: () => void, workers: () => Record<QueueName, number>) {
  let unanswered = 0;
  let crowdedSince: number | undefined;

  function count(change: 1 | -1): void {
    const wasCrowd = crowdedSince !== undefined;
    unanswered += change;
    crowdedSince = unanswered > CROWD ? (crowdedSince ?? clock()) : undefined;
    if (wasCrowd && crowdedSince === undefined) calm();
  }

  return {
    /** Counts a webhook's requests until they are answered. */
    counted(handler: HttpHandler): HttpHandler {
      return async (event) => {
        count(1);
        try {
          return await handler(event);
        } finally {
          count(-1);
        }
      };
    },
    /**
     * How many jobs of a queue may run now, in the thread that also answers the webhooks. During a crowd it is one job,
     * and for background jobs none in the first ten seconds.
     */
    maxConcurrency({ name }: Pick<FifoQueue, 'name'>): number {
      const isBackground = name === 'background.fifo';
      if (crowdedSince === undefined) return workers()[isBackground ? 'background' : 'interactive'];
      return isBackground && clock() - crowdedSince < BACKGROUND_WAITS_MS ? 0 : 1;
    },
  };
}
