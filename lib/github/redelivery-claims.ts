import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Hook, hookName } from './hooks.ts';

/** What runs did about a delivery, so that two runs at once do not both do it, and neither does a later one. */
export interface Claims {
  /** @returns false if a run asked for the delivery in the last ten minutes */
  ask(hook: Hook, guid: string): Promise<boolean>;
  /** @returns false if the delivery was given up before */
  giveUp(hook: Hook, guid: string): Promise<boolean>;
}

/** Less than the time between two runs, and long enough for GitHub to make the attempt and list it. */
const SETTLED_AFTER_MS = 10 * 60_000;
/** No attempt is listed for longer. */
const KEPT_FOR_MS = 8 * 86_400_000;

export function createClaims(table: Table, clock: () => number): Claims {
  async function claim(hook: Hook, guid: string, what: 'askedAt' | 'givenUpAt', again: number): Promise<boolean> {
    const now = clock();
    const written = await table.update(
      keys.failedDelivery(hookName(hook), guid),
      {
        expression: `SET #${what} = :now, #expiresAt = :expiresAt`,
        values: { now, expiresAt: Math.floor((now + KEPT_FOR_MS) / 1000) },
      },
      { expression: `attribute_not_exists(#${what}) OR #${what} <= :again`, values: { again } },
    );
    return written !== undefined;
  }

  return {
    ask: (hook, guid) => claim(hook, guid, 'askedAt', clock() - SETTLED_AFTER_MS),
    giveUp: (hook, guid) => claim(hook, guid, 'givenUpAt', 0),
  };
}
