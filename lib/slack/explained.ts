import { SlackRateLimited, SlackRefusal, SlackUnanswered } from './slack-api.ts';

/**
 * Looks whether somebody may do something. Where Slack has to be asked and does not tell, they may not.
 * @returns why they may not, or undefined
 */
export async function explained(contact: string, look: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof SlackRefusal)
      return `Slack does not tell the relay who may do this (${error.error}). Tell ${contact}.`;
    if (error instanceof SlackUnanswered || error instanceof SlackRateLimited) {
      return 'Slack did not tell the relay in time who may do this. Please try again.';
    }
    throw error;
  }
}
