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
    if (error instanceof SlackRefusal)
      return `Partner Relay cannot check your permission with Slack (${error.error}). Tell ${contact}.`;
    if (error instanceof PlatformUnanswered || error instanceof PlatformRateLimited) {
      return 'Slack did not confirm your permission in time. Try again.';
    }
    throw error;
  }
}
