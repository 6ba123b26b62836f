import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import type { PartnerError } from '../../service/partner/errors.ts';
import type { CallingRun } from '../line/calling-run.ts';
import { comeBackAt } from '../line/pauses.ts';
import { InLine, type Interruption, StepFailed } from '../record/interruption.ts';
import type { Limited } from '../record/job.ts';

/** The pause after a 429 without a Retry-After if the budget cannot be written, or if only this call waits. */
const UNKNOWN_PAUSE_MS = 60_000;
/** A resend is back before those that the line calls (LEAD_MS in ../line/waiting-line.ts), and waits in place. */
const BACK_BEFORE_MS = 8_000;
/** A job that meets 429 again lets others go first after the pause. */
const BEHIND_OTHERS_MS = 15_000;

/** What a 429 stops: the connection, or only the job if the service takes calls of others. */
export interface RateLimits {
  /**
   * @param urgent true for resends and searches: they go first again, and never use up an attempt
   * @returns the error for the current job to throw
   */
  met(error: PartnerError, urgent: boolean): Promise<Interruption>;
  /** The service took a call of the operation. */
  worked(operation: string): void;
  /** What the next run of the job has to know. */
  limited(): Limited | undefined;
}

export function createRateLimits(run: CallingRun): RateLimits {
  const { connection, budget, breakers, clock, report } = run;
  let { limited } = run;

  const goFirstAt = (at: number, why: string) =>
    comeBackAt(Math.max(clock(), at - BACK_BEFORE_MS), clock(), why, 'budget');

  return {
    async met(error, urgent) {
      report({ news: 'rate limited' });
      const { operation, retryAfterSeconds } = error;
      const asked = retryAfterSeconds === null ? undefined : retryAfterSeconds * 1000;
      const before = limited?.operation === operation ? limited.served : undefined;
      const served = await breakers.limited(connection.name);
      limited = { operation, served };
      const why = 'the service wants fewer calls';
      if (before !== undefined && served > before) {
        if (urgent) return goFirstAt(clock() + (asked ?? UNKNOWN_PAUSE_MS), why);
        return new StepFailed(`${error.message}, while it took other calls`, { notBefore: clock() + (asked ?? 0) });
      }
      const until = await budget.pause(connection.name, connection.limits, asked).catch((error) => {
        // Other jobs will get their own 429 from the service.
        if (!(error instanceof BudgetUnavailable)) throw error;
        return clock() + (asked ?? UNKNOWN_PAUSE_MS);
      });
      if (urgent) return goFirstAt(until, why);
      // If it went first again, no other call could show that the service takes others.
      return before === undefined
        ? new InLine(why, until)
        : comeBackAt(until + BEHIND_OTHERS_MS, clock(), why, 'budget');
    },
    worked(operation) {
      if (limited?.operation === operation) limited = undefined;
    },
    limited: () => limited,
  };
}
