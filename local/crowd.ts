import type { FifoQueue } from './fifo-queue.ts';
import type { HttpHandler } from './http-front.ts';

/** Of each queue, as the stack has it. */
const MAX_CONCURRENCY = 5;
/** More unanswered requests than this are a crowd. */
const CROWD = 5;
/** Background jobs wait for a crowd as long as GitHub waits for an answer. */
const BACKGROUND_WAITS_MS = 10_000;

/** How busy the webhooks are. GitHub and people in Slack wait for an answer, and jobs can wait a little longer. */
export interface Crowd {
  /** Counts the requests of a webhook until they are answered. */
  counted(handler: HttpHandler): HttpHandler;
  /**
   * How many jobs of a queue may run now: in a crowd one, and of the background none for the first ten seconds. Both run
   * in the thread that answers the webhooks.
   */
  maxConcurrency(queue: Pick<FifoQueue, 'name'>): number;
}

/**
 * @param clock in milliseconds
 * @param calm is called when a crowd has passed, and more jobs may run
 */
export function createCrowd(clock: () => number, calm: () => void): Crowd {
  let unanswered = 0;
  let crowdedSince: number | undefined;

  function count(change: 1 | -1): void {
    const wasCrowd = crowdedSince !== undefined;
    unanswered += change;
    crowdedSince = unanswered > CROWD ? (crowdedSince ?? clock()) : undefined;
    if (wasCrowd && crowdedSince === undefined) calm();
  }

  return {
    counted: (handler) => async (event) => {
      count(1);
      try {
        return await handler(event);
      } finally {
        count(-1);
      }
    },
    maxConcurrency({ name }) {
      if (crowdedSince === undefined) return MAX_CONCURRENCY;
      return name === 'background.fifo' && clock() - crowdedSince < BACKGROUND_WAITS_MS ? 0 : 1;
    },
  };
}
