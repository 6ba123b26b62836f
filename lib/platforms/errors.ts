/** Slack or GitHub wants fewer calls. The engine decides what this error and the others here mean for a job. */
export class PlatformRateLimited extends Error {
  override readonly name = 'PlatformRateLimited';
  /** How long to make no calls. */
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/** No clear answer: the call may have been carried out. The next attempt may succeed. */
export class PlatformUnanswered extends Error {
  override readonly name = 'PlatformUnanswered';
}
