import { DAY_MS } from '../../dates.ts';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';

/** What strangers have used of the day, which is a day of UTC. */
export interface StrangersToday {
  used: number;
  /** The logins of those who caused them. */
  who: string[];
  /** When the next day begins; epoch milliseconds. */
  endsAt: number;
}

/**
 * The calls of a day that people from outside of a repository may cause, so that none of them can use up the budget of
 * a connection: docs/decisions/0017-share-of-strangers.md. It is besides the budget, and takes nothing from it.
 */
export type StrangerShare = ReturnType<typeof createStrangerShare>;

export function createStrangerShare(table: Table, clock: () => number) {
  const keyOf = (connection: string) => keys.strangers(connection, new Date(clock()).toISOString().slice(0, 10));
  return {
    async today(connection: string): Promise<StrangersToday> {
      const { calls = 0, who } = (await table.get(keyOf(connection))) ?? {};
      const logins = who instanceof Set ? [...(who as Set<string>)].sort() : [];
      return { used: Number(calls), who: logins, endsAt: (Math.floor(clock() / DAY_MS) + 1) * DAY_MS };
    },
    /** Counts a call. @returns false if the stranger's day has none left, of `most` */
    async take(connection: string, login: string, most: number): Promise<boolean> {
      if (most <= 0) return false;
      const counted = await table.update(
        keyOf(connection),
        {
          expression: 'ADD #calls :one, #who :login SET #expiresAt = :expiresAt',
          values: { one: 1, login: new Set([login]), expiresAt: expiry(clock()) },
        },
        { expression: 'attribute_not_exists(#calls) OR #calls < :most', values: { most } },
      );
      return counted !== undefined;
    },
  };
}

/** The share in calls per day. */
export function mostOfStrangers(limits: { perDay: number }, strangersShare: number): number {
  return Math.floor(limits.perDay * strangersShare);
}
