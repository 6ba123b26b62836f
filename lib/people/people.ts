import * as z from 'zod';
import { isTimeZone } from '../config/names.ts';
import type { RelayConfig } from '../config/schema.ts';
import { digest } from '../digest.ts';
import { NotDone } from '../engine/record/interruption.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import { createKnownPeople } from '../platforms/slack/known-names.ts';
import { type SlackApi, SlackRefusal } from '../platforms/slack/slack-api.ts';
import { provenAddress, type SlackUser, slackUser } from '../platforms/slack/slack-user.ts';
import type { Stores } from '../runtime.ts';
import { listUsers } from '../service/partner/operations/users.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import { remembered } from '../state/table/remembered.ts';
import { comparableAddress, cutToLength } from '../text.ts';
import { loginOf } from './names.ts';

/** A person as the platform identifies them: a Slack user id or a GitHub login. */
export type Person = { in: 'slack'; id: string } | { in: 'github'; id: string };

/** A user of the service. */
export interface ServiceUser {
  userId: string | number;
  name: string;
  /** The user's e-mail address in the service. */
  email: string;
  /** The person's time zone, for words such as "yesterday". */
  timeZone: string;
  /** When the user was created, in the service's own format. */
  created?: unknown;
}

export type People = ReturnType<typeof createPeople>;

/** The stores and clients that look people up. */
export interface PeopleContext extends Pick<Stores, 'table' | 'clock'> {
  config: RelayConfig;
  slack: SlackApi | undefined;
}

/** How long a match is kept, counted from the time of the list of users. */
const KNOWN_FOR_MS = 86_400_000;
/**
 * How long a failed match is kept for each page of the list, before a newer list is read. Keeps repeated commands from
 * using up the budget.
 */
const UNCLEAR_FOR_MS = 10 * 60_000;
/** The maximum number of pages of a list, which is read once a day. */
const PAGES = 200;

interface KnownUser extends ServiceUser {
  /** Digest of the person's entry in `people`. If the entry changes, the person is looked up again. */
  entry: string;
  /** When the users were listed; epoch milliseconds. */
  readAt: number;
}

type ListedUser = Pick<ServiceUser, 'userId' | 'name' | 'created'>;

/** The users of a connection whose digest starts with one digit. All together would not fit into an item (400 KB). */
interface UserShard {
  /** By the digest of their e-mail address. */
  users: Record<string, ListedUser[]>;
  /** False if the list of users may have been cut off. */
  isWhole: boolean;
  /** How many pages of the list were read. */
  pages: number;
  /** When the users were listed; epoch milliseconds. */
  readAt: number;
}

const MAX_NAME_LENGTH = 60;

function listedUser({ user_id, name, email, dt_created }: z.output<typeof listUsers.data>[number]) {
  if (!email) return undefined;
  const shown = cutToLength(name ?? `user ${user_id}`, MAX_NAME_LENGTH, '…');
  return { address: digest(comparableAddress(email)), userId: user_id, name: shown, created: dt_created };
}

type AddressedUser = NonNullable<ReturnType<typeof listedUser>>;

const shardOf = (address: string): string => address.slice(0, 1);

function byAddress(listed: readonly AddressedUser[]): UserShard['users'] {
  const users: UserShard['users'] = {};
  for (const { address, ...user } of listed) users[address] = [...(users[address] ?? []), user];
  return users;
}

const userInfo = z.object({ user: slackUser });

/** Returns the person's time zone in Slack, or its current offset if Node does not know the zone. */
function zoneOf({ tz, tz_offset }: SlackUser): string | undefined {
  if (tz && isTimeZone(tz)) return tz;
  if (tz_offset == null) return undefined;
  const minutes = Math.abs(Math.trunc(tz_offset / 60));
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${tz_offset < 0 ? '-' : '+'}${hour}:${minute}`;
}

/** Matches people to users of the service. */
export function createPeople({ config, table, slack, clock }: PeopleContext) {
  const ask = `Ask ${config.contact} to add you to Partner Relay.`;
  const mapped = ({ in: platform, id }: Person) =>
    config.people.find((one) => one[platform]?.toLowerCase() === id.toLowerCase());

  const knownPeople = createKnownPeople(table);
  const entryOf = (person: Person) => digest(mapped(person) ?? null);

  /** Returns the e-mail address and the time zone, from `people` or from Slack. */
  async function lookUp(person: Person, steps: JobSteps): Promise<{ email: string; timeZone: string }> {
    const entry = mapped(person);
    if (person.in === 'github') {
      if (!entry) throw new NotDone(`Partner Relay does not know which user of the service @${person.id} is. ${ask}`);
      return entry;
    }
    const info = await askSlack(person.id, steps);
    const email = entry?.email ?? info.email;
    if (!email)
      throw new NotDone(`Partner Relay matches people by e-mail address, but Slack does not show yours. ${ask}`);
    return { email, timeZone: info.timeZone ?? entry?.timeZone ?? 'UTC' };
  }

  async function askSlack(
    user: string,
    steps: JobSteps,
  ): Promise<{ email?: string; timeZone?: string; name?: string }> {
    if (!slack || !(await slack.isThere())) return {};
    return steps.read('find the person', 'Slack users.info', async () => {
      try {
        const { user: found } = await slack.call('users.info', { user }, userInfo);
        const email = await provenAddress(found, slack);
        const timeZone = zoneOf(found);
        const name = found.profile.display_name || found.real_name;
        return { email, timeZone, ...(name && { name: cutToLength(name, MAX_NAME_LENGTH, '…') }) };
      } catch (error) {
        if (error instanceof SlackRefusal && /^user_/.test(error.error)) return {};
        throw error;
      }
    });
  }

  /**
   * Returns the users with that e-mail address, from a shared list. If none or several match, a newer list may help.
   */
  async function usersWith(
    email: string,
    connection: string,
    steps: JobSteps,
  ): Promise<{ users: ListedUser[]; isWhole: boolean; readAt: number }> {
    const address = digest(comparableAddress(email));
    const own = shardOf(address);
    const { users, isWhole, readAt } = await remembered<UserShard>({
      table,
      clock,
      key: keys.users(connection, own),
      keptForMs: KNOWN_FOR_MS,
      fits: ({ users, readAt, pages }) => users[address]?.length === 1 || clock() - readAt < UNCLEAR_FOR_MS * pages,
      async read() {
        // Pages from an earlier run of the job are as old as that run.
        const readAt = await steps.read('begin to list users', 'clock', async () => clock());
        const read = await steps.list('list users', listUsers, {}, listedUser, ({ userId }) => userId, PAGES);
        const about = { isWhole: read.whole, pages: read.pages, readAt };
        const shards = Map.groupBy(read.kept, ({ address }) => shardOf(address));
        const listed = (shard: string) => ({ users: byAddress(shards.get(shard) ?? []), ...about });
        const others = [...'0123456789abcdef'].filter((shard) => shard !== own);
        const expiresAt = expiry(readAt, KNOWN_FOR_MS);
        for (const shard of others) await table.put({ ...keys.users(connection, shard), ...listed(shard), expiresAt });
        return listed(own);
      },
    });
    return { users: users[address] ?? [], isWhole, readAt };
  }

  /** Explains why no user matches. Omits the address, because comments on GitHub are public and outcomes are logged. */
  function unmatched(count: number, isWhole: boolean, isMapped: boolean): string {
    const none = isWhole
      ? 'No user of the service has'
      : 'Partner Relay cannot read all users of the service, and none of those that it can read has';
    const who = count === 0 ? none : `${count} users of the service have`;
    if (!isMapped && count === 0)
      return `${who} your e-mail address. If your account there has another address, tell it to ${config.contact}. If you have no account, ask for one.`;
    if (!isMapped) return `${who} your e-mail address. ${ask}`;
    return `${who} the e-mail address that Partner Relay has for you. Ask ${config.contact} to correct it.`;
  }

  async function find(person: Person, connection: string, steps: JobSteps): Promise<KnownUser> {
    const { email, timeZone } = await lookUp(person, steps);
    const { users, isWhole, readAt } = await usersWith(email, connection, steps);
    const [user] = users;
    if (!user || users.length > 1) throw new NotDone(unmatched(users.length, isWhole, mapped(person) !== undefined));
    const known = person.in === 'github' ? loginOf(person.id) : person.id;
    await knownPeople.learn(connection, [{ id: known, name: user.name }]);
    return { ...user, email, timeZone, entry: entryOf(person), readAt };
  }

  return {
    /** Returns the person's e-mail address in the service, as far as known. Does not call the service. */
    addressOf: async (person: Person, steps: JobSteps): Promise<string | undefined> =>
      mapped(person)?.email ?? (person.in === 'slack' ? (await askSlack(person.id, steps)).email : undefined),
    /**
     * Returns the name that people know: the display name in Slack, or the login on GitHub. Does not call the service.
     */
    nameOf: async (person: Person, steps: JobSteps): Promise<string | undefined> =>
      person.in === 'slack' ? (await askSlack(person.id, steps)).name : `@${person.id}`,
    /** Returns the person's time zone, for words such as "yesterday". Does not call the service. */
    async timeZoneOf(person: Person, steps: JobSteps) {
      const zone = person.in === 'slack' ? (await askSlack(person.id, steps)).timeZone : undefined;
      return zone ?? mapped(person)?.timeZone ?? 'UTC';
    },
    /**
     * Returns the people whose linked accounts may act for the person: the person, and for a GitHub login also their
     * Slack user.
     */
    holdersFor(person: Person): Person[] {
      const slack = person.in === 'github' ? mapped(person)?.slack : undefined;
      return [{ ...person }, ...(slack === undefined ? [] : [{ in: 'slack' as const, id: slack }])];
    },
    /** True if the login belongs to another account than in `people`. GitHub gives a free login to anyone. */
    isAnother(login: string, accountId: number | undefined): boolean {
      const id = mapped({ in: 'github', id: login })?.githubId;
      return id !== undefined && id !== accountId;
    },
    /**
     * Returns the person's user in the service.
     * @throws {NotDone} if the person cannot be matched; the message tells them why, and who can fix it
     */
    userOf: (person: Person, connection: string, steps: JobSteps): Promise<ServiceUser> =>
      remembered({
        table,
        clock,
        key: keys.person(person.in, person.id, connection),
        keptForMs: ({ readAt }) => readAt + KNOWN_FOR_MS - clock(),
        read: () => find(person, connection, steps),
        fits: ({ entry }) => entry === entryOf(person),
      }),
  };
}
