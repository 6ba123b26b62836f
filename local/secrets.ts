import { join } from 'node:path';
import { keptKey } from './kept-key.ts';
import { type KeptSecrets, secretsFile } from './kept-secrets.ts';
import { STATE_FOLDER } from './state.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** A secret, and where a person finds it. */
export interface Entered<T> {
  value: T;
  /** `GITHUB_WEBHOOK_SECRET`, or the name of a file. */
  from: string;
}

/** The webhook's secret: from the variable, else a kept one, else generated and kept. */
export function githubWebhookOf(kept: KeptSecrets, variables: Variables): Entered<{ webhookSecret: string }> {
  const { GITHUB_WEBHOOK_SECRET } = variables;
  if (GITHUB_WEBHOOK_SECRET) {
    return { value: { webhookSecret: GITHUB_WEBHOOK_SECRET }, from: 'GITHUB_WEBHOOK_SECRET' };
  }
  const entered = kept.get('github-webhook')?.webhookSecret;
  if (typeof entered === 'string') return { value: { webhookSecret: entered }, from: secretsFile() };
  const from = join(STATE_FOLDER, 'github-webhook.key');
  return { value: { webhookSecret: keptKey(from, 'remove it, and enter the new secret at your webhook') }, from };
}

/** The credentials for GitHub; undefined if there are none. */
export function githubOf(kept: KeptSecrets, variables: Variables): Entered<object> | undefined {
  if (variables.GITHUB_TOKEN) return { value: { token: variables.GITHUB_TOKEN }, from: 'GITHUB_TOKEN' };
  const value = kept.get('github');
  return value && { value, from: secretsFile() };
}

/**
 * Returns the Slack app. One of its two secrets alone is a mistake: the relay would refuse requests from Slack, or
 * would send its messages to the stand-in.
 *
 * @returns undefined if Slack's stand-in takes its place
 * @throws {Error} if one of the two is missing
 */
export function slackAppOf(
  kept: KeptSecrets,
  variables: Variables,
): Entered<{ signingSecret: string; botToken: string }> | undefined {
  const { SLACK_SIGNING_SECRET: signingSecret, SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken } = variables;
  if (appToken && !botToken) {
    throw new Error('SLACK_APP_TOKEN is set without SLACK_BOT_TOKEN: set both, because answers need the bot token');
  }
  if (signingSecret && botToken) {
    return { value: { signingSecret, botToken }, from: 'SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN' };
  }
  // Slack connects by Socket Mode, and the relay signs these requests itself.
  if (botToken && appToken) {
    return { value: { signingSecret: standInSigningSecret().value, botToken }, from: 'SLACK_BOT_TOKEN' };
  }
  if (botToken) {
    throw new Error(
      'SLACK_BOT_TOKEN is set, but SLACK_SIGNING_SECRET is not, so every request from Slack would be refused: set both ' +
        '(the signing secret is under Basic Information of your app), or neither for the local stand-in',
    );
  }
  if (signingSecret) {
    throw new Error(
      'SLACK_SIGNING_SECRET is set, but SLACK_BOT_TOKEN is not, so nothing could be sent to Slack: set both (the bot ' +
        'token is under OAuth & Permissions of your app), or neither for the local stand-in',
    );
  }
  const entered = kept.get('slack');
  if (!entered) return undefined;
  const { signingSecret: enteredSecret, botToken: enteredToken } = entered;
  if (typeof enteredSecret === 'string' && typeof enteredToken === 'string') {
    return { value: { signingSecret: enteredSecret, botToken: enteredToken }, from: secretsFile() };
  }
  throw new Error(
    `the secret slack in ${secretsFile()} has no bot token, so nothing could be sent to Slack: install the app, and ` +
      'enter both again: npx partner-relay secrets set slack',
  );
}

/** The signing secret of Slack's stand-in, generated once and kept. */
export function standInSigningSecret(): Entered<string> {
  const from = join(STATE_FOLDER, 'slack-signing.key');
  return { value: keptKey(from, 'remove it; the next start makes another'), from };
}
