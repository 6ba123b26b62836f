import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';

/** The people who muted reminders for a day. */
export interface Mutes {
  /** @param date `YYYY-MM-DD` */
  mute(slackUserId: string, date: string): Promise<void>;
  isMuted(slackUserId: string, date: string): Promise<boolean>;
}

/** The reminders of a day end earlier. */
const KEPT_MS = 7 * 86_400_000;

export function createMutes(table: Table, clock: () => number): Mutes {
  return {
    async mute(slackUserId, date) {
      await table.put({ ...keys.mute(slackUserId, date), expiresAt: expiry(clock(), KEPT_MS) });
    },
    isMuted: async (slackUserId, date) => (await table.get(keys.mute(slackUserId, date))) !== undefined,
  };
}
