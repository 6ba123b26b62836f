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
   * True if the job's message leaves the queue, so that other jobs of its group continue: the wait is long, or it is
   * for a job whose message may be behind this one.
   */
  readonly releasesQueueGroup: boolean;
  readonly waitsFor: WaitsFor;
  /** When the job probably continues, if `dueAt` is only an earlier check. People read it. Epoch milliseconds. */
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
 * Nothing failed, but the budget has no slot, or the connection or an operation does not work. The job joins the
 * waiting line of its connection and lane, or of that operation.
 */
export class InLine extends Interruption {
  override readonly name = 'InLine';
  /** The estimated time of the job's turn. People read it. Epoch milliseconds. */
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
  /** The earliest time for the next attempt that the service asked for. Epoch milliseconds. */
  readonly notBefore: number;
  readonly waitsFor: WaitsFor;

  constructor(
    why: string,
    { notBefore = 0, waitsFor = 'retry', ...options }: ErrorOptions & { notBefore?: number; waitsFor?: WaitsFor } = {},
  ) {
    super(why, options);
    this.notBefore = notBefore;
    this.waitsFor = waitsFor;
  }
}

/** The job cannot continue until an operator acts. */
export class NeedsOperator extends Interruption {
  override readonly name: string = 'NeedsOperator';
}

/** The job asks a person a question. Only an answer continues it. */
export class NeedsAnswer extends NeedsOperator {
  override readonly name = 'NeedsAnswer';
}

/**
 * The service refused a call because of its content, and no outcome is unknown. Parks the job unless the automation
 * catches it.
 */
export class Refused extends NeedsOperator {
  override readonly name = 'Refused';
  readonly refusal: PartnerError;

  constructor(refusal: PartnerError) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
  }
}

/** The request cannot be done, but the person who asked can correct it: the message says how. Ends the job. */
export class NotDone extends Interruption {
  override readonly name = 'NotDone';
  /** Block Kit that replaces the message in a reply to Slack. */
  readonly blocks: readonly object[] | undefined;

  constructor(message: string, blocks?: readonly object[]) {
    super(message);
    this.blocks = blocks;
  }
}

/** Only the person can look whether it was done. */
export class PerhapsDone extends NotDone {}

/** The person has to link their account and ask again. */
export class AccountFirst extends NotDone {
  /** The scopes to request in addition to those already granted. */
  readonly scopes: readonly string[];

  constructor(message: string, scopes: readonly string[]) {
    super(message);
    this.scopes = scopes;
  }
}

/**
 * Turns the service's refusal of a person's input into a {@link NotDone} that tells the person how to correct it.
 * @param isPublic true if outsiders can read the message; then it omits the service's own text
 * @returns a handler for `catch`. It throws the NotDone, or any other error unchanged
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
