import * as z from 'zod';
import type { RelayConfig } from '../config/schema.ts';
import { digest } from '../digest.ts';
import { NotDone } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { listUsers } from '../partner/users.ts';
import { judged } from '../slack/judged.ts';
import { type SlackApi, SlackRefusal } from '../slack/slack-api.ts';
import { isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Somebody as the platform knows them: a user id of Slack, a login of GitHub. */
export type Person = { in: 'slack'; id: string } | { in: 'github'; id: string };

/** Somebody as a user of the service. */
export interface ServiceUser {
  userId: string | number;
  name: string;
  /** Of the person, for words such as "yesterday". */
  timeZone: string;
}

/** Who is who. */
export interface People {
  /** @throws {NotDone} that says to the person why they cannot be matched, and who can mend it */
  userOf(person: Person, connection: string, steps: Steps): Promise<ServiceUser>;
}

export interface PeopleOptions {
  config: Pick<RelayConfig, 'people' | 'contact'>;
  table: Table;
  slack: SlackApi | undefined;
  clock: () => number;
}

const KNOWN_FOR_SECONDS = 86_400;
const PAGE_SIZE = 100;
const PAGES = 50;

interface Known extends ServiceUser {
  /** Digest of the person's entry in the map: whoever is entered anew, otherwise or no more is looked for again. */
  entry: string;
}

const userInfo = z.object({
  user: z.object({ tz: z.string().nullish(), profile: z.object({ email: z.string().nullish() }) }),
});

export function createPeople({ config, table, slack, clock }: PeopleOptions): People {
  const ask = `Ask ${config.contact} to add you to people in relay.config.ts.`;
  const mapped = ({ in: platform, id }: Person) =>
    config.people.find((one) => one[platform]?.toLowerCase() === id.toLowerCase());

  /** The address and the time zone, from the map or from Slack. */
  async function lookUp(person: Person, steps: Steps): Promise<{ email: string; timeZone: string }> {
    const entry = mapped(person);
    if (person.in === 'github') {
      if (!entry) throw new NotDone(`Nobody knows which user of the service @${person.id} is. ${ask}`);
      return entry;
    }
    const info = await askSlack(person.id, steps);
    const email = entry?.email ?? info.email;
    if (!email) throw new NotDone(`Slack does not tell your e-mail address, by which people are matched. ${ask}`);
    return { email, timeZone: info.timeZone ?? entry?.timeZone ?? 'UTC' };
  }

  async function askSlack(user: string, steps: Steps): Promise<{ email?: string | null; timeZone?: string | null }> {
    if (!slack || !(await slack.isThere())) return {};
    return steps.look('who is it', 'Slack users.info', () =>
      judged(clock, async () => {
        try {
          const { user: found } = await slack.call('users.info', { user }, userInfo);
          return { email: found.profile.email ?? null, timeZone: found.tz ?? null };
        } catch (error) {
          if (error instanceof SlackRefusal && /^user_/.test(error.error)) return {};
          throw error;
        }
      }),
    );
  }

  return {
    async userOf(person, connection, steps) {
      const key = keys.person(person.in, person.id, connection);
      const known = (await table.get(key)) as Known | undefined;
      const entry = digest(mapped(person) ?? null);
      if (known?.entry === entry && !isExpired({ ...known }, clock())) return known;

      const { email, timeZone } = await lookUp(person, steps);
      const { kept } = await steps.list(
        'find the user',
        listUsers,
        { per_page: PAGE_SIZE },
        ({ user_id: userId, name, email: theirs }) =>
          sameAddress(theirs, email) ? { userId, name: name ?? `user ${userId}` } : undefined,
        PAGES,
      );
      const [user] = kept;
      // Without the address: comments on GitHub are public, and outcomes are in the log.
      if (!user) throw new NotDone(`No user of the service has your e-mail address. ${ask}`);
      if (kept.length > 1) throw new NotDone(`${kept.length} users of the service have your e-mail address. ${ask}`);
      const found = { ...user, timeZone };
      await table.put({ ...key, ...found, entry, expiresAt: Math.floor(clock() / 1000) + KNOWN_FOR_SECONDS });
      return found;
    },
  };
}

function sameAddress(one: string | null | undefined, other: string): boolean {
  return one?.trim().toLowerCase() === other.trim().toLowerCase();
}
