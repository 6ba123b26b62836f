/** An error answer of Slack: `{ ok: false, error }` with status 200, and details in `response_metadata.messages`. */
export class SlackError extends Error {
  override readonly name = 'SlackError';
  /** `channel_not_found` */
  readonly error: string;
  readonly faults: readonly string[];

  constructor(error: string, faults: readonly string[] = []) {
    super(error);
    this.error = error;
    this.faults = faults;
  }
}
