import { askedToWait, NeedsOperator, StepFailed } from '../../engine/record/interruption.ts';
import { SlackRateLimited, SlackRefusal, SlackUnanswered } from './slack-api.ts';

const REINSTALL = 'enter the bot token of an app that is installed, with npx partner-relay secrets set slack';
const UNKNOWN_REMEDY = 'check the token and the scopes of the Slack app';
/** Tells the operator what to do about a refusal. */
const REMEDIES = new Map(
  Object.entries({
    account_inactive: REINSTALL,
    token_revoked: REINSTALL,
    token_expired: REINSTALL,
    invalid_auth: REINSTALL,
    not_authed: REINSTALL,
    missing_scope: 'give the app the scopes that partner-relay slack-manifest prints, and install it again',
    not_in_channel: 'invite the app to the channel',
    channel_not_found: 'correct the channel in relay.config.ts, or invite the app to it if it is private',
    is_archived: 'name another channel in relay.config.ts, or restore this one',
    restricted_action: 'the workspace does not let the app post there',
    messages_tab_disabled: "switch on the messages tab of the app's home",
  }),
);

/**
 * Calls Slack within a job, and converts errors into their meaning for the job. If a refusal means something else,
 * catch it in `call`.
 */
export async function withJobErrors<T>(clock: () => number, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SlackRateLimited) {
      const now = clock();
      throw askedToWait(now + error.retryAfterSeconds * 1000, now, error.message);
    }
    if (error instanceof SlackUnanswered) throw new StepFailed(error.message, { cause: error });
    if (error instanceof SlackRefusal) {
      throw new NeedsOperator(`${error.message}: ${REMEDIES.get(error.error) ?? UNKNOWN_REMEDY}`, { cause: error });
    }
    throw error;
  }
}
