/** Slack's no: `{ ok: false, error }` with status 200, and in `response_metadata.messages` what it has to say of it. */
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
