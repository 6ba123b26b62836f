import { DAY_MS } from '../../dates.ts';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';

/** The calls that strangers have caused today. The day is in UTC. */
export interface StrangersToday {
  used: number;
  /** The logins of the strangers. */
  who: string[];
  /** When the next day begins; epoch milliseconds. */
  endsAt: number;
}

/**
 * The calls of a day that people from outside of a repository may cause. The limit keeps them from using up the budget
 * of a connection: docs/decisions/0017-share-of-strangers.md. It is counted separately from the budget.
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
    /** Counts a call. @returns false if outside contributors have already caused `most` calls today */
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

/** Returns the share in calls a day. */
export function mostOfStrangers(limits: { perDay: number }, strangersShare: number): number {
  return Math.floor(limits.perDay * strangersShare);
}
