import * as z from 'zod';
import type { RelayConfig } from '../config/schema.ts';
import type { Steps } from '../jobs/steps.ts';
import { type SlackApi, SlackRefusal } from '../slack/slack-api.ts';
import { hasProvenAddress, slackUser } from '../slack/slack-user.ts';
import { withJobErrors } from '../slack/with-job-errors.ts';
import { isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Who a user of the service is in Slack. */
export interface SlackPeople {
  /** @returns undefined where nobody in Slack has that address, confirmed and as a member of this workspace */
  userIdOf(email: string, steps: Steps): Promise<string | undefined>;
}

export interface SlackPeopleOptions {
  config: Pick<RelayConfig, 'people'>;
  table: Table;
  slack: SlackApi | undefined;
  clock: () => number;
}

/** People are reminded every day, and Slack looks up about 50 addresses a minute. */
const KNOWN_FOR_SECONDS = 7 * 86_400;

const found = z.object({ user: slackUser });

export function createSlackPeople({ config, table, slack, clock }: SlackPeopleOptions): SlackPeople {
  return {
    async userIdOf(email, steps) {
      const address = email.trim().toLowerCase();
      const mapped = config.people.find((person) => person.slack && person.email.toLowerCase() === address);
      if (mapped?.slack || !slack) return mapped?.slack;
      const known = await table.get(keys.slackUser(address));
      if (known && !isExpired(known, clock())) return String(known.userId);
      const userId = await steps.read('who is it', 'Slack users.lookupByEmail', () =>
        withJobErrors(clock, async () => {
          try {
            const { user } = await slack.call('users.lookupByEmail', { email: address }, found);
            // What somebody logged is nobody else's business.
            return hasProvenAddress(user) ? user.id : null;
          } catch (error) {
            if (error instanceof SlackRefusal && error.error === 'users_not_found') return null;
            throw error;
          }
        }),
      );
      if (userId === null) return undefined;
      await table.put({
        ...keys.slackUser(address),
        userId,
        expiresAt: Math.floor(clock() / 1000) + KNOWN_FOR_SECONDS,
      });
      return userId;
    },
  };
}
