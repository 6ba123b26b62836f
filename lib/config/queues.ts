/** The queues: one for the lanes of people, and one for all others. */
export type QueueName = 'interactive' | 'background';

/** The dead-letter queue of a queue, by its name or its URL. */
export const deadLettersOf = (queue: string) => queue.replace(/\.fifo$/, '-dead.fifo');

/** A sleeping message blocks its group. Jobs with longer waits leave the queue and are only in the table. */
export const LONGEST_SLEEP_MS = 10 * 60_000;
