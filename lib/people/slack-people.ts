import * as z from 'zod';
import type { RelayConfig } from '../config/schema.ts';
import type { Steps } from '../engine/run/steps.ts';
import { type SlackApi, SlackRefusal } from '../platforms/slack/slack-api.ts';
import { provenAddress, slackUser } from '../platforms/slack/slack-user.ts';
import { withJobErrors } from '../platforms/slack/with-job-errors.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';
import type { Table } from '../state/table/table.ts';

/** Finds a user of the service in Slack. */
export interface SlackPeople {
  /** @returns undefined if no member of this workspace has that address and has confirmed it */
  userIdOf(email: string, steps: Steps): Promise<string | undefined>;
}

export interface SlackPeopleOptions {
  config: Pick<RelayConfig, 'people'>;
  table: Table;
  slack: SlackApi | undefined;
  clock: () => number;
}

/** Reminders go out every day, and Slack allows about 50 address lookups a minute. */
const KNOWN_FOR_MS = 7 * 86_400_000;

const found = z.object({ user: slackUser });

export function createSlackPeople({ config, table, slack, clock }: SlackPeopleOptions): SlackPeople {
  /** @returns null if no one is found, because the result is journalled */
  function lookUp(slack: SlackApi, email: string, steps: Steps): Promise<string | null> {
    return steps.read('who is it', 'Slack users.lookupByEmail', () =>
      withJobErrors(clock, async () => {
        try {
          const { user } = await slack.call('users.lookupByEmail', { email }, found);
          // A person's time entries must not be shown to anyone else.
          return (await provenAddress(user, slack)) ? user.id : null;
        } catch (error) {
          if (error instanceof SlackRefusal && error.error === 'users_not_found') return null;
          throw error;
        }
      }),
    );
  }

  return {
    async userIdOf(email, steps) {
      const address = email.trim().toLowerCase();
      const mapped = config.people.find((person) => person.slack && person.email.toLowerCase() === address);
      if (mapped?.slack || !slack) return mapped?.slack;
      const { userId } = await remembered({
        table,
        clock,
        key: keys.slackUser(address),
        keptForMs: ({ userId }) => (userId === null ? 0 : KNOWN_FOR_MS),
        read: async () => ({ userId: await lookUp(slack, address, steps) }),
      });
      return userId ?? undefined;
    },
  };
}
