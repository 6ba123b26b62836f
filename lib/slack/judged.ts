import { Later, Park, StepFailed } from '../jobs/interruption.ts';
import { SlackRateLimited, SlackRefusal, SlackUnanswered } from './slack-api.ts';

/**
 * Makes a call of Slack within a job, and turns what goes wrong into what it means for the job. A refusal that means
 * something else is caught in `call`.
 */
export async function judged<T>(clock: () => number, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SlackRateLimited) throw new Later(clock() + error.retryAfterSeconds * 1000, error.message);
    if (error instanceof SlackUnanswered) throw new StepFailed(error.message, { cause: error });
    if (error instanceof SlackRefusal) {
      throw new Park(`${error.message}: are the token and the scopes of the Slack app right?`, { cause: error });
    }
    throw error;
  }
}
