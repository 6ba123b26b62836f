import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** Who does not want to be reminded of a day any more. */
export interface Mutes {
  /** @param date `YYYY-MM-DD` */
  mute(slackUserId: string, date: string): Promise<void>;
  isMuted(slackUserId: string, date: string): Promise<boolean>;
}

/** Nobody is reminded of a day that long after it. */
const KEPT_MS = 7 * 86_400_000;

export function createMutes(table: Table, clock: () => number): Mutes {
  return {
    async mute(slackUserId, date) {
      await table.put({ ...keys.mute(slackUserId, date), expiresAt: expiry(clock(), KEPT_MS) });
    },
    isMuted: async (slackUserId, date) => (await table.get(keys.mute(slackUserId, date))) !== undefined,
  };
}
