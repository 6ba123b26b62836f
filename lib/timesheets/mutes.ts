import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';

/** The people who muted reminders for a day. */
export type Mutes = ReturnType<typeof createMutes>;

/** The reminders of a day end earlier. */
const KEPT_MS = 7 * 86_400_000;

export function createMutes(table: Table, clock: () => number) {
  return {
    /** @param date `YYYY-MM-DD` */
    async mute(slackUserId: string, date: string): Promise<void> {
      await table.put({ ...keys.mute(slackUserId, date), expiresAt: expiry(clock(), KEPT_MS) });
    },
    isMuted: async (slackUserId: string, date: string): Promise<boolean> =>
      (await table.get(keys.mute(slackUserId, date))) !== undefined,
  };
}
