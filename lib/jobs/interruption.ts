import type { PartnerError } from '../partner/errors.ts';

/**
 * How a step ends a run before its job is done. Thrown, so that an automation reads as if every step worked; whoever
 * writes an automation lets them pass, apart from a {@link Refused} of which the person who asked should hear.
 */
export abstract class Interruption extends Error {}

/** Nothing failed, but it is not the time: go on then. */
export class RetryAt extends Interruption {
  override readonly name = 'RetryAt';
  /** Epoch milliseconds. */
  readonly dueAt: number;
  /** It waits for another job, whose message may be behind its own in the queue: so its own goes. */
  readonly releasesQueueGroup: boolean;

  constructor(dueAt: number, why: string, { releasesQueueGroup = false } = {}) {
    super(why);
    this.dueAt = dueAt;
    this.releasesQueueGroup = releasesQueueGroup;
  }
}

/** Nothing failed, but the budget has no slot for it: the job stands in the waiting line of its connection and lane. */
export class InLine extends Interruption {
  override readonly name = 'InLine';
  /** When its turn comes, as far as is known; for people. Epoch milliseconds. */
  readonly expectedAt: number | undefined;

  constructor(why: string, expectedAt?: number) {
    super(why);
    this.expectedAt = expectedAt;
  }
}

/** The step failed in a way that may pass: an attempt is used up. */
export class StepFailed extends Interruption {
  override readonly name = 'StepFailed';
}

/** The job cannot go on without somebody who looks after the relay. */
export class NeedsOperator extends Interruption {
  override readonly name: string = 'NeedsOperator';
}

/** The service refused a call for what it is, and nothing is open. Left alone, it parks the job. */
export class Refused extends NeedsOperator {
  override readonly name = 'Refused';
  readonly refusal: PartnerError;

  constructor(refusal: PartnerError) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
  }
}

/** What was asked for cannot be done, and whoever asked can put it right: the message tells how. The job has ended. */
export class NotDone extends Interruption {
  override readonly name = 'NotDone';
}

/**
 * For a step that carries what a person typed: what the service does not take as it is, they can put right.
 * @param isPublic whether strangers read what the person is told; then it does not have the service's own words
 * @returns the error to be thrown instead
 */
export function asNotDone(error: unknown, what: string, isPublic = false): unknown {
  const isTheirs = error instanceof Refused && (error.refusal.status === 400 || error.refusal.status === 422);
  return isTheirs ? new NotDone(`The service does not take ${what}${isPublic ? '' : `. ${error.message}`}`) : error;
}
