import type { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';

/** `Date` has whole seconds. */
const RESOLUTION_MS = 1_000;
/** The correction of a wrong clock is right to within half of this: decision 0008. */
const CERTAIN_WITHIN_MS = RESOLUTION_MS + 500;

/**
 * The time of the table, which all processes share: this process's clock, corrected if it is wrong.
 *
 * A clock that is hours off would take calls that still count for old, and times in its items would stop others. Each
 * answer of the table has a `Date` in whole seconds. It was made between the request and the answer, so every answer
 * narrows down by how much the two clocks can differ. A clock that fits all answers is used as it is.
 *
 * @param clock this process's own
 */
export function createTableClock(clock: () => number) {
  /** What to add to this process's clock lies between these. */
  let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isRight = () => least <= 0 && most >= 0;
  const correction = () => (isRight() ? 0 : Math.round((least + most) / 2));
  return {
    /** Epoch milliseconds. */
    now: () => clock() + correction(),
    /** How far this process's clock is ahead of the table's in milliseconds, negative if behind; 0 if it fits. */
    aheadMs: () => 0 - correction(),
    /** True if the clock is wrong, and answers took too long to measure the difference. */
    isUncertain: () => !isRight() && most - least > CERTAIN_WITHIN_MS,
    /** True if the table has answered. */
    isKnown: () => Number.isFinite(least),
    /**
     * @param date the `Date` of an answer (RFC 9110, 6.6.1)
     * @param sentAt when its request was sent, by this process's clock
     */
    learn(date: string | undefined, sentAt: number): void {
      const second = Date.parse(date ?? '');
      if (Number.isNaN(second)) return;
      const here = { least: second - clock(), most: second + RESOLUTION_MS - sentAt };
      const fits = here.least <= most && here.most >= least;
      // A clock that was set in the meantime has nothing to do with earlier answers.
      least = fits ? Math.max(least, here.least) : here.least;
      most = fits ? Math.min(most, here.most) : here.most;
    },
  };
}

type Metadata = DynamoDBServiceException['$metadata'];
interface DatedMetadata extends Metadata {
  /** The header of that name. */
  date?: string | undefined;
}

/** Keeps the `Date` of each answer in its metadata: only middleware sees the headers of an answer. */
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
