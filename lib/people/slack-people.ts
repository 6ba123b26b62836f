import * as z from 'zod';
import type { JobSteps } from '../engine/run/job-steps.ts';
import { type SlackApi, SlackRefusal } from '../platforms/slack/slack-api.ts';
import { provenAddress, slackUser } from '../platforms/slack/slack-user.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';
import { comparableAddress } from '../text.ts';
import type { PeopleContext } from './people.ts';

/** A week, because reminders go out every day, and Slack allows about 50 address lookups a minute. */
const KNOWN_FOR_MS = 7 * 86_400_000;

const found = z.object({ user: slackUser });

/**
 * Returns the Slack id of a user of the service.
 *
 * @param email the user's address in the service
 * @returns undefined if no member of this workspace has that address and has confirmed it
 */
export async function slackUserOf(
  email: string,
  steps: JobSteps,
  { config, table, slack, clock }: PeopleContext,
): Promise<string | undefined> {
  const address = comparableAddress(email);
  const mapped = config.people.find((person) => person.slack && comparableAddress(person.email) === address);
  if (mapped?.slack || !slack) return mapped?.slack;
  const { userId } = await remembered({
    table,
    clock,
    key: keys.slackUser(address),
    keptForMs: ({ userId }) => (userId === null ? 0 : KNOWN_FOR_MS),
    read: async () => ({ userId: await lookUp(address, steps, slack) }),
  });
  return userId ?? undefined;
}

/** @returns null instead of undefined, because the result is journalled */
function lookUp(email: string, steps: JobSteps, slack: SlackApi): Promise<string | null> {
  return steps.read('find the person', 'Slack users.lookupByEmail', async () => {
    try {
      const { user } = await slack.call('users.lookupByEmail', { email }, found);
      // Nobody else may read a person's time entries.
      return (await provenAddress(user, slack)) ? user.id : null;
    } catch (error) {
      if (error instanceof SlackRefusal && error.error === 'users_not_found') return null;
      throw error;
    }
  });
}
