/** Slack or GitHub wants fewer calls. What this and the other errors here mean for a job, the engine says. */
export class PlatformRateLimited extends Error {
  override readonly name = 'PlatformRateLimited';
  /** How long it wants none. */
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/** It is unknown whether the call was executed. The next one may succeed. */
export class PlatformUnanswered extends Error {
  override readonly name = 'PlatformUnanswered';
}
