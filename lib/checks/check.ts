/** `unknown`: it cannot be checked now, or not without creating something, or there is no data to check yet. */
export type Verdict = 'good' | 'bad' | 'unknown';

/** One thing that the relay needs: its configuration, a secret, the service, GitHub, Slack or the account of a stage. */
export interface Check {
  /** `main: users/list`, `slack: channel C0123ABCD` */
  what: string;
  /**
   * @returns what is good, without secrets
   * @throws {CannotTell | Error} that says what is bad, and what to do
   */
  look: () => string | Promise<string>;
  /** What can be looked at only after this. */
  next?: ((verdict: Verdict) => Checks) | undefined;
}

export const check = (what: string, look: Check['look'], next?: Check['next']): Check => ({ what, look, next });

/** The result of one check. */
export interface Finding {
  what: string;
  verdict: Verdict;
  /** What was found, and what to do if it is bad. Contains no secrets. */
  detail: string;
}

/** What to look at, and what is known without a look. What does not apply has no value. */
export type Checks = readonly (Check | Finding | Checks | false | null | undefined)[];

/** Thrown by a check that cannot tell whether something is right. */
export class CannotTell extends Error {
  override readonly name: string = 'CannotTell';
}

/** Nothing is configured that could be wrong. */
export class NothingThere extends CannotTell {
  override readonly name = 'NothingThere';
}

/** It may be a temporary failure, so there is a second try. */
export class Unanswered extends CannotTell {
  override readonly name = 'Unanswered';
}

/** The message says what is wrong, where the error of a library does not. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
}
