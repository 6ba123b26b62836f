import type { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';

/** The resolution of `Date`, which has whole seconds. */
const RESOLUTION_MS = 1_000;
/** The correction of a wrong clock is accurate to half of this: decision 0008. */
const CERTAIN_WITHIN_MS = RESOLUTION_MS + 500;

/**
 * The time of the table, which all processes share: this process's clock, corrected if it is wrong.
 *
 * If a clock were hours off, calls that still count would seem old, and times in its items would stop other processes.
 * Each answer of the table has a `Date` in whole seconds. The table made it between the request and the answer, so
 * every answer limits the difference between the two clocks further. A clock that fits all answers is used as it is.
 *
 * @param clock this process's own
 */
export function createTableClock(clock: () => number) {
  /** The limits of the correction for this process's clock. */
  let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isRight = () => least <= 0 && most >= 0;
  const correction = () => (isRight() ? 0 : Math.round((least + most) / 2));
  return {
    /** Epoch milliseconds. */
    now: () => clock() + correction(),
    /** How far this process's clock is ahead of the table's, in milliseconds. Negative if behind, 0 if it fits. */
    aheadMs: () => 0 - correction(),
    /** True if the clock is wrong, and answers took too long to measure the difference. */
    isUncertain: () => !isRight() && most - least > CERTAIN_WITHIN_MS,
    /** True if the table has answered. */
    isKnown: () => Number.isFinite(least),
    /**
     * Learns from an answer of the table.
     * @param date the `Date` of an answer (RFC 9110, 6.6.1)
     * @param sentAt when its request was sent, by this process's clock
     */
    learn(date: string | undefined, sentAt: number): void {
      const second = Date.parse(date ?? '');
      if (Number.isNaN(second)) return;
      const here = { least: second - clock(), most: second + RESOLUTION_MS - sentAt };
      const fits = here.least <= most && here.most >= least;
      // If the answers contradict each other, this process's clock was set in between, so the earlier answers no longer
      // count.
      least = fits ? Math.max(least, here.least) : here.least;
      most = fits ? Math.min(most, here.most) : here.most;
    },
  };
}

type Metadata = DynamoDBServiceException['$metadata'];
interface DatedMetadata extends Metadata {
  /** The `Date` header. */
  date?: string | undefined;
}

/** Keeps the `Date` of each answer in its metadata, because only middleware sees the headers. */
export function keepDate(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { output, response } = await next(args);
      const { headers } = response as { headers?: Readonly<Record<string, string>> };
      const $metadata: DatedMetadata = { ...output?.$metadata, date: headers?.date };
      return { output: { ...output, $metadata }, response };
    },
    { step: 'deserialize', priority: 'high' },
  );
}

export const dateOf = ($metadata: DatedMetadata | undefined): string | undefined => $metadata?.date;
