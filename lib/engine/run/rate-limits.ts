import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import type { PartnerError } from '../../service/partner/errors.ts';
import type { CallingRun } from '../line/calling-run.ts';
import { comeBackAt } from '../line/pauses.ts';
import { InLine, type Interruption, NeedsOperator } from '../record/interruption.ts';
import type { Limited } from '../record/job.ts';

/** The pause after a 429 if the budget cannot be written. */
const UNKNOWN_PAUSE_MS = 60_000;

/** A job that alone meets 429 is parked after this many times, if they are spread over this long. */
const LIMITED_TIMES = 8;
const LIMITED_FOR_MS = 30 * 60_000;
/** A job that meets 429 again lets others go first after the pause. */
const BEHIND_OTHERS_MS = 15_000;
/** The pauses between them double, from the first to the longest. */
const FIRST_LIMITED_PAUSE_MS = 60_000;
const LONGEST_LIMITED_PAUSE_MS = 6 * 60_000;

/** What a 429 stops: the connection, or only the job if the service takes calls of others. */
export interface RateLimits {
  /** @returns the error for the current job to throw */
  met(error: PartnerError): Promise<Interruption>;
  /** The service took a call of the operation. */
  worked(operation: string): void;
  /** What the next run of the job has to know. */
  limited(): Limited | undefined;
}

export function createRateLimits(run: CallingRun): RateLimits {
  const { connection, budget, breakers, clock, report } = run;
  let { limited } = run;

  /** How long a job waits that alone meets 429; it parks in the end. */
  function waitingAlone({ times, since }: Limited, { message }: PartnerError, askedMs = 0): Interruption {
    const now = clock();
    if (times >= LIMITED_TIMES && now - since >= LIMITED_FOR_MS) {
      const minutes = Math.round((now - since) / 60_000);
      return new NeedsOperator(`${message}, ${times} times in ${minutes} minutes, while it took other calls`);
    }
    const pause = Math.min(FIRST_LIMITED_PAUSE_MS * 2 ** (times - 1), LONGEST_LIMITED_PAUSE_MS);
    const why = 'the service takes other calls, and wants no more of this one';
    return comeBackAt(now + Math.max(askedMs, pause), now, why, 'budget');
  }

  return {
    async met(error) {
      report({ news: 'rate limited' });
      const { operation, retryAfterSeconds } = error;
      const asked = retryAfterSeconds === null ? undefined : retryAfterSeconds * 1000;
      const served = await breakers.limited(connection.name);
      const isFirst = limited?.operation !== operation;
      const before = limited && !isFirst ? limited : { operation, times: 0, since: clock(), served };
      const isAlone = served > before.served;
      limited = { ...before, times: before.times + (isAlone ? 1 : 0), served };
      if (isAlone) return waitingAlone(limited, error, asked);
      const until = await budget.pause(connection.name, connection.limits, asked).catch((error) => {
        // Other jobs will get their own 429 from the service.
        if (!(error instanceof BudgetUnavailable)) throw error;
        return clock() + (asked ?? UNKNOWN_PAUSE_MS);
      });
      const why = 'the service wants fewer calls';
      // If it went first again, no other call could show that the service takes others.
      return isFirst ? new InLine(why, until) : comeBackAt(until + BEHIND_OTHERS_MS, clock(), why, 'budget');
    },
    worked(operation) {
      if (limited?.operation === operation) limited = undefined;
    },
    limited: () => limited,
  };
}
