import { PlatformRateLimited, PlatformUnanswered } from '../errors.ts';
import { SlackRefusal } from './slack-api.ts';

/**
 * Checks a person's permission. Without a necessary answer from Slack, permission is refused.
 * @returns why they have no permission, or undefined
 */
export async function explained(contact: string, look: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof SlackRefusal) {
      const isGroup = error.error === 'no_such_subteam';
      const why = isGroup
        ? "does not know a group in Partner Relay's settings"
        : `refused the question (${error.error})`;
      return `Partner Relay could not check if you may use this, because Slack ${why}. Tell ${contact}.`;
    }
    if (error instanceof PlatformUnanswered || error instanceof PlatformRateLimited) {
      return 'Slack did not confirm your permission in time. Try again.';
    }
    throw error;
  }
}
