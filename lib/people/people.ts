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
import { cutToLength } from '../text.ts';

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

/** Counted from when the users were listed. */
const KNOWN_FOR_MS = 86_400_000;
/** Whoever asks again and again must not use up the budget. */
const ABSENT_FOR_MS = 10 * 60_000;
const MOST_LISTED = 2_000;
const PAGE_SIZE = 100;
const PAGES = 50;

interface Known extends ServiceUser {
  /** Digest of the person's entry in the map: whoever is entered anew, otherwise or no more is looked for again. */
  entry: string;
}

interface ListedUser {
  userId: string | number;
  name: string;
}

/** The users of a connection by the digest of their address. */
interface Listing {
  users: Record<string, ListedUser[]>;
  /** Epoch milliseconds. */
  readAt: number;
}

const MAX_NAME_LENGTH = 60;

function listedUser({ user_id, name, email }: z.output<typeof listUsers.data>[number]) {
  if (!email) return undefined;
  const shown = cutToLength(name ?? `user ${user_id}`, MAX_NAME_LENGTH, '…');
  return { address: digest(email.trim().toLowerCase()), userId: user_id, name: shown };
}

const userInfo = z.object({
  user: z.object({
    tz: z.string().nullish(),
    is_bot: z.boolean().nullish(),
    /** Of another workspace. */
    is_stranger: z.boolean().nullish(),
    is_email_confirmed: z.boolean().nullish(),
    profile: z.object({ email: z.string().nullish() }),
  }),
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
          const { is_bot, is_stranger, is_email_confirmed, profile, tz } = found;
          // Whoever can enter any address must not be taken for its owner.
          const isProven = is_email_confirmed !== false && !is_stranger && !is_bot;
          return { email: (isProven && profile.email) || null, timeZone: tz ?? null };
        } catch (error) {
          if (error instanceof SlackRefusal && /^user_/.test(error.error)) return {};
          throw error;
        }
      }),
    );
  }

  /** Those of that address, from a listing that everybody shares: who is not in it may be in a newer one. */
  async function usersWith(
    email: string,
    connection: string,
    steps: Steps,
  ): Promise<{ users: ListedUser[]; readAt: number }> {
    const key = keys.users(connection);
    const address = digest(email.trim().toLowerCase());
    const known = (await table.get(key)) as Listing | undefined;
    const age = clock() - (known?.readAt ?? 0);
    const listed = known?.users[address];
    if (known && age < (listed ? KNOWN_FOR_MS : ABSENT_FOR_MS)) return { users: listed ?? [], readAt: known.readAt };
    const readAt = clock();
    const { kept } = await steps.list('list users', listUsers, { per_page: PAGE_SIZE }, listedUser, PAGES);
    const users: Listing['users'] = {};
    for (const { address, ...user } of kept) users[address] = [...(users[address] ?? []), user];
    // An item holds 400 KB; a larger service is listed for each person.
    if (kept.length <= MOST_LISTED) await table.put({ ...key, users, readAt });
    return { users: users[address] ?? [], readAt };
  }

  return {
    async userOf(person, connection, steps) {
      const key = keys.person(person.in, person.id, connection);
      const known = (await table.get(key)) as Known | undefined;
      const entry = digest(mapped(person) ?? null);
      if (known?.entry === entry && !isExpired({ ...known }, clock())) return known;

      const { email, timeZone } = await lookUp(person, steps);
      const { users, readAt } = await usersWith(email, connection, steps);
      const [user] = users;
      // Without the address: comments on GitHub are public, and outcomes are in the log.
      if (!user) throw new NotDone(`No user of the service has your e-mail address. ${ask}`);
      if (users.length > 1) throw new NotDone(`${users.length} users of the service have your e-mail address. ${ask}`);
      const found = { ...user, timeZone };
      await table.put({ ...key, ...found, entry, expiresAt: Math.floor((readAt + KNOWN_FOR_MS) / 1000) });
      return found;
    },
  };
}
