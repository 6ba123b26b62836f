/** The queues: one for the lanes of people, one for all other lanes. */
export type QueueName = 'interactive' | 'background';

/** Returns the dead-letter queue of a queue, from its name or URL. */
export const deadLettersOf = (queue: string) => queue.replace(/\.fifo$/, '-dead.fifo');

/** A sleeping message blocks its group, so jobs with longer waits leave the queue and are only in the table. */
export const LONGEST_SLEEP_MS = 10 * 60_000;
