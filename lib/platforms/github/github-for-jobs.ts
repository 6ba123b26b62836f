import { RequestError } from '@octokit/request-error';
import { askedToWait, StepFailed } from '../../engine/record/interruption.ts';
import { createGithubClient, type GithubClient, type GithubClientOptions } from './github-client.ts';
import { passingFailure } from './passing-failure.ts';

/** GitHub's REST API as the steps of a job use it. */
export interface GithubForJobs extends GithubClient {
  /**
   * Makes requests within a step.
   *
   * @param refused returns the result if GitHub refuses a request and would refuse it again
   * @throws {Interruption} for a failure that may pass: no answer, too many requests, 401 or 5xx
   */
  ask<T>(requests: () => Promise<T>, refused: (refusal: RequestError) => T): Promise<T>;
}

export function createGithubForJobs(options: GithubClientOptions & { clock: () => number }): GithubForJobs {
  const client = createGithubClient(options);
  return {
    ...client,
    async ask(requests, refused) {
      try {
        return await requests();
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const now = options.clock();
        const passing = passingFailure(error, now);
        if (passing?.limitedUntil !== undefined) throw askedToWait(passing.limitedUntil, now, passing.why);
        if (passing) throw new StepFailed(passing.why, { cause: error });
        if (error.status !== 401) return refused(error);
        client.suspectCredentials();
        throw new StepFailed('GitHub answered 401');
      }
    },
  };
}
