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

/** The fields of a call, which the relay sends as a form. */
export type Arguments = Readonly<Record<string, string>>;

/** Returns the field. @throws {SlackError} if it is missing or empty */
export function required(args: Arguments, name: string): string {
  const value = args[name];
  if (!value) throw new SlackError('invalid_arguments', [`missing required field: ${name}`]);
  return value;
}

/** Parses a field that is an object in JSON bodies, and a string of JSON in forms. */
export function structured(given: unknown, error: string): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch {
    throw new SlackError(error);
  }
}

/** In a form, true is `true` or `1`. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === '1';
}
