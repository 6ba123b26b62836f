/**
 * The result of a check. `unknown`: it cannot be checked now, or only by creating something, or there is no data to
 * check yet.
 */
export type Verdict = 'good' | 'bad' | 'unknown';

/** One thing that the relay needs: its configuration, a secret, the service, GitHub, Slack or the account of a stage. */
export interface Check {
  /** Such as `main: users/list` or `slack: channel C0123ABCD`. */
  what: string;
  /**
   * Runs the check.
   * @returns what is good, without secrets
   * @throws {CannotTell | Error} that says what is bad, and what to do
   */
  look: () => string | Promise<string>;
  /** The checks that are possible only after this one. */
  next?: ((verdict: Verdict) => Checks) | undefined;
}

export const check = (what: string, look: Check['look'], next?: Check['next']): Check => ({ what, look, next });

/** The result of one check. */
export interface Finding {
  what: string;
  verdict: Verdict;
  /** The finding, and what to do if it is bad. Contains no secrets. */
  detail: string;
}

/** Checks to run, and findings that need no check. Checks that do not apply have no value. */
export type Checks = readonly (Check | Finding | Checks | false | null | undefined)[];

/** The check cannot tell whether something is right. */
export class CannotTell extends Error {
  override readonly name: string = 'CannotTell';
}

/** Nothing is configured that could be checked. */
export class NothingThere extends CannotTell {
  override readonly name = 'NothingThere';
}

/** The failure may be temporary, so there is a second try. */
export class Unanswered extends CannotTell {
  override readonly name = 'Unanswered';
}

/** Something is wrong. The message says what, because the error of a library does not. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
}
