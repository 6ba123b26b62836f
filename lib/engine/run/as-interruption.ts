import { PlatformRateLimited, PlatformUnanswered } from '../../platforms/errors.ts';
import { GithubRefusal } from '../../platforms/github/github-client.ts';
import { remedyOf } from '../../platforms/slack/remedies.ts';
import { SlackRefusal } from '../../platforms/slack/slack-api.ts';
import { NeedsOperator, RetryAt, StepFailed } from '../record/interruption.ts';

/**
 * The limits of a wait that Slack or GitHub asks for. Repeated shorter waits would look like a loop (`sentTooOften` in
 * ending.ts), and one wrong header must not stop a job for years.
 */
const SHORTEST_ASKED_MS = 5_000;
const LONGEST_ASKED_MS = 24 * 60 * 60_000;

/**
 * Returns the interruption that an error of Slack's or GitHub's client means for a job. Returns any other error as it
 * is.
 */
export function asInterruption(error: unknown, now: number): unknown {
  if (error instanceof PlatformRateLimited) {
    const waitMs = Math.min(Math.max(error.waitMs, SHORTEST_ASKED_MS), LONGEST_ASKED_MS);
    return new RetryAt(now + waitMs, error.message, { waitsFor: 'outage' });
  }
  if (error instanceof PlatformUnanswered) return new StepFailed(error.message, { cause: error });
  if (error instanceof SlackRefusal)
    return new NeedsOperator(`${error.message}: ${remedyOf(error.error)}`, { cause: error });
  if (error instanceof GithubRefusal) return new NeedsOperator(error.message, { cause: error });
  return error;
}
