import { NotNow } from './redelivery-api.ts';

/** The time that a run has for all hooks, and how fast it may change things at GitHub. */
export interface Turn {
  /** @throws {NotNow} where there is no time for another request */
  inTime(): void;
  /** To be awaited before each change. @throws {NotNow} */
  beforeChange(): Promise<void>;
}

/** A run ends by itself before Lambda ends it. */
const RUN_MS = 4 * 60_000;
/**
 * What GitHub asks for.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
const BETWEEN_CHANGES_MS = 1_000;

export function createTurn(clock: () => number, sleep: (ms: number) => Promise<void>): Turn {
  const endsAt = clock() + RUN_MS;
  let isFirst = true;
  const inTime = () => {
    if (clock() >= endsAt) throw new NotNow('the time of this run is over');
  };
  return {
    inTime,
    async beforeChange() {
      if (!isFirst) await sleep(BETWEEN_CHANGES_MS);
      isFirst = false;
      inTime();
    },
  };
}
