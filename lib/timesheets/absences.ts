import { DAY_MS } from '../dates.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';

/** The absences that people have entered or that reminders have found, and muted days. */
export type Absences = ReturnType<typeof createAbsences>;

/** Longer than until the week's summary. */
const NOTED_FOR_MS = 21 * DAY_MS;
/** Longer than a day's reminders are due. */
const MUTED_FOR_MS = 7 * DAY_MS;

export function createAbsences(table: Table, clock: () => number) {
  return {
    /** @param date `YYYY-MM-DD` */
    async mute(slackUserId: string, date: string): Promise<void> {
      await table.put({ ...keys.mute(slackUserId, date), expiresAt: expiry(clock(), MUTED_FOR_MS) });
    },
    isMuted: async (slackUserId: string, date: string): Promise<boolean> =>
      (await table.get(keys.mute(slackUserId, date))) !== undefined,
    /** @param until the last day of absence, as `YYYY-MM-DD`; undefined for a person who is back */
    async set(slackUserId: string, until: string | undefined): Promise<void> {
      const key = keys.awayUntil(slackUserId);
      if (until === undefined) return void (await table.delete(key));
      // Kept longer, because the day ends later in the west.
      await table.put({ ...key, until, expiresAt: expiry(Date.parse(until), 3 * DAY_MS) });
    },
    /** Returns the person's last day of absence. */
    async until(slackUserId: string): Promise<string | undefined> {
      const item = await table.get(keys.awayUntil(slackUserId));
      return typeof item?.until === 'string' ? item.until : undefined;
    },
    /** Records for the summary that a person was away on a day, or why the team's calendar could not be read. */
    async note(team: string, date: string, noted: { userId: string } | { unread: string }): Promise<void> {
      const key = keys.awayOn(team, date, 'userId' in noted ? `person#${noted.userId}` : 'calendar');
      await table.put({ ...key, ...noted, expiresAt: expiry(clock(), NOTED_FOR_MS) });
    },
    /** Returns the records for these days. */
    async noted(team: string, dates: readonly string[]): Promise<{ away: Map<string, string[]>; unread: string[] }> {
      const away = new Map<string, string[]>();
      const unread: string[] = [];
      for (const date of dates) {
        for (const { userId } of await table.partition(keys.awayOn(team, date, '').pk)) {
          if (typeof userId === 'string') away.set(userId, [...(away.get(userId) ?? []), date]);
          else unread.push(date);
        }
      }
      return { away, unread };
    },
  };
}
