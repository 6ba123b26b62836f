/**
 * How a step ends a run before its job is done. Thrown, so that an automation reads as if every step worked; whoever
 * writes an automation neither catches nor knows these.
 */
export abstract class Interruption extends Error {}

/** Nothing failed, but it is not the time: go on then. */
export class Later extends Interruption {
  override readonly name = 'Later';
  /** Epoch milliseconds. */
  readonly dueAt: number;

  constructor(dueAt: number, why: string) {
    super(why);
    this.dueAt = dueAt;
  }
}

/** The step failed in a way that may pass: an attempt is used up. */
export class StepFailed extends Interruption {
  override readonly name = 'StepFailed';
}

/** The job cannot go on without a person. */
export class Park extends Interruption {
  override readonly name = 'Park';
}
