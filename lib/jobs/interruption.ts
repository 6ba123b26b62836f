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
  /** It waits for another job, whose message may be behind its own in the queue: so its own goes. */
  readonly makesRoom: boolean;

  constructor(dueAt: number, why: string, { makesRoom = false } = {}) {
    super(why);
    this.dueAt = dueAt;
    this.makesRoom = makesRoom;
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
