import type { RequestError } from '@octokit/request-error';
import { type Interruption, RetryAt, StepFailed } from '../jobs/interruption.ts';
import type { GithubClient } from './github-client.ts';
import { rateLimitEnd } from './rate-limit.ts';

/**
 * What a failed request to GitHub means for its job where it may pass: no answer, too many requests, 401 or 5xx.
 * @returns undefined for a refusal that stays
 */
export function passingFailure(
  error: RequestError,
  github: Pick<GithubClient, 'suspectCredentials'>,
  now: number,
): Interruption | undefined {
  const { status, response, message } = error;
  // Octokit reports a request without an answer as a 500.
  if (!response) return new StepFailed(`GitHub did not answer: ${message}`, { cause: error });
  const limitedUntil = rateLimitEnd({ status, message, headers: response.headers }, now);
  if (limitedUntil !== undefined) return new RetryAt(limitedUntil, 'GitHub wants fewer requests');
  if (status === 401) github.suspectCredentials();
  return status >= 500 || status === 401 ? new StepFailed(`GitHub answered ${status}`) : undefined;
}
