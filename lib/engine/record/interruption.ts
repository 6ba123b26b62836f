import type { PartnerError } from '../../service/partner/errors.ts';
import type { WaitsFor } from './history.ts';

/**
 * A step throws these to end a run before its job is done, so that an automation reads as if every step worked.
 * Automations must not catch them, except a {@link Refused} that the person who asked should hear about.
 */
export abstract class Interruption extends Error {}

/** Nothing failed, but the job has to continue later. */
export class RetryAt extends Interruption {
  override readonly name = 'RetryAt';
  /** Epoch milliseconds. */
  readonly dueAt: number;
  /**
   * Its message leaves the queue, so that others of its group go on: the wait is long, or it is for a job whose message may
   * be behind this one.
   */
  readonly releasesQueueGroup: boolean;
  readonly waitsFor: WaitsFor;
  /** When it probably goes on, if the job looks earlier; shown to people. Epoch milliseconds. */
  readonly expectedAt: number | undefined;

  constructor(
    dueAt: number,
    why: string,
    { releasesQueueGroup = false, waitsFor = 'pause', expectedAt }: RetryAtOptions = {},
  ) {
    super(why);
    this.dueAt = dueAt;
    this.releasesQueueGroup = releasesQueueGroup;
    this.waitsFor = waitsFor;
    this.expectedAt = expectedAt;
  }
}

interface RetryAtOptions {
  releasesQueueGroup?: boolean;
  waitsFor?: WaitsFor;
  expectedAt?: number | undefined;
}

/**
 * Nothing failed, but the budget has no slot, or the connection or an operation does not work. The job joins the waiting
 * line of its connection and lane, or of the operation there.
 */
export class InLine extends Interruption {
  override readonly name = 'InLine';
  /** The estimated time of its turn, shown to people. Epoch milliseconds. */
  readonly expectedAt: number | undefined;
  readonly waitsFor: WaitsFor;
  readonly operation: string | undefined;

  constructor(why: string, expectedAt?: number, waitsFor: WaitsFor = 'budget', operation?: string) {
    super(why);
    this.expectedAt = expectedAt;
    this.waitsFor = waitsFor;
    this.operation = operation;
  }
}

/** The step failed, possibly temporarily. This uses up an attempt. */
export class StepFailed extends Interruption {
  override readonly name = 'StepFailed';
  /** When the service wants the next try at the earliest. Epoch milliseconds. */
  readonly notBefore: number;

  constructor(why: string, { notBefore = 0, ...options }: ErrorOptions & { notBefore?: number } = {}) {
    super(why, options);
    this.notBefore = notBefore;
  }
}

/** The job cannot continue until an operator acts. */
export class NeedsOperator extends Interruption {
  override readonly name: string = 'NeedsOperator';
}

/** The job asks a person a question. It continues with an answer only. */
export class NeedsAnswer extends NeedsOperator {
  override readonly name = 'NeedsAnswer';
}

/** The service refused a call because of its content, and nothing is open. If it is not caught, it parks the job. */
export class Refused extends NeedsOperator {
  override readonly name = 'Refused';
  readonly refusal: PartnerError;

  constructor(refusal: PartnerError) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
  }
}

/** The request cannot be done, and the person who asked can fix it. The message tells them how. The job has ended. */
export class NotDone extends Interruption {
  override readonly name = 'NotDone';
  /** Block Kit that replaces the message if the reply goes to Slack. */
  readonly blocks: readonly object[] | undefined;

  constructor(message: string, blocks?: readonly object[]) {
    super(message);
    this.blocks = blocks;
  }
}

/** The person has to link their account, and to ask again. */
export class AccountFirst extends NotDone {
  /** What to ask for besides the scopes that were granted. */
  readonly scopes: readonly string[];

  constructor(message: string, scopes: readonly string[]) {
    super(message);
    this.scopes = scopes;
  }
}

/**
 * For a step with a person's input: if the service refuses the input, the person can fix it.
 * @param isPublic true if outsiders can read the message; then it omits the service's own text
 * @returns what to catch the error with. It throws another error, or the same
 */
export const ifRefused =
  (what: string, isPublic = false) =>
  (error: unknown): never => {
    if (!isRefusedInput(error)) throw error;
    throw new NotDone(`The service refuses ${what}${isPublic ? '' : `. ${error.message}`}`);
  };

export function isRefusedInput(error: unknown): error is Refused {
  return error instanceof Refused && (error.refusal.status === 400 || error.refusal.status === 422);
}
