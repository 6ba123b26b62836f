import * as z from 'zod';
import { PlatformRateLimited, PlatformUnanswered } from '../platforms/errors.ts';
import type { SlackApi } from '../platforms/slack/slack-api.ts';
import { CannotTell, NothingThere, Unanswered } from './check.ts';
import type { Credential } from './credential-check.ts';

/** Checks the Slack app's token against its workspace. https://docs.slack.dev/reference/methods/auth.test */
export function slackCredential(slack: SlackApi): Credential {
  return {
    what: 'slack: credentials',
    secret: 'slack',
    metric: 'SlackCredentialsFail',
    async look() {
      if (!(await slack.isThere())) throw new NothingThere('the secret has no botToken');
      await slack.call('auth.test', {}, z.unknown()).catch(unlessRefused);
      return 'auth.test accepts the token';
    },
  };
}

/** @throws {CannotTell} for an error of Slack that does not answer the check */
export function unlessRefused(error: unknown): never {
  if (error instanceof PlatformRateLimited) throw new CannotTell(error.message);
  if (error instanceof PlatformUnanswered) throw new Unanswered(error.message);
  throw error;
}
