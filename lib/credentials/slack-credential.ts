import * as z from 'zod';
import { PlatformRateLimited, PlatformUnanswered } from '../platforms/errors.ts';
import { type SlackApi, SlackRefusal } from '../platforms/slack/slack-api.ts';
import { SecretError } from '../state/secrets/secrets.ts';
import type { Credential } from './credential-check.ts';

/** Checks the Slack app's token against its workspace. https://docs.slack.dev/reference/methods/auth.test */
export function createSlackCredential(slack: SlackApi): Credential {
  return {
    name: 'slack',
    metric: 'SlackCredentialsFail',
    async check() {
      try {
        if (!(await slack.isThere())) return { verdict: 'skipped', why: 'the secret has no botToken' };
        await slack.call('auth.test', {}, z.unknown());
        return { verdict: 'good', why: 'auth.test accepts the token' };
      } catch (error) {
        if (error instanceof PlatformRateLimited) return { verdict: 'unknown', why: error.message };
        if (error instanceof PlatformUnanswered) return { verdict: 'unanswered', why: error.message };
        if (error instanceof SlackRefusal || error instanceof SecretError)
          return { verdict: 'bad', why: error.message };
        throw error;
      }
    },
  };
}
