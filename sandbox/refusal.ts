/** A refused request, with its error status. `errors` has the payload's invalid fields and their faults. */
export class Refusal extends Error {
  readonly status: number;
  readonly errors: Readonly<Record<string, string>> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    reason: string,
    more: { errors?: Readonly<Record<string, string>>; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(reason);
    this.status = status;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

export function refuse(status: number, reason: string): never {
  throw new Refusal(status, reason);
}
