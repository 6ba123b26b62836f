import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';

/** Has the key of a connection. */
export interface KeyHolder {
  /**
   * Returns a digest of the instance and the key, which does not reveal them. There is one for each key, because the
   * service counts the calls of each key.
   */
  budgetId(): Promise<string>;
  /** Call this if the key may have been replaced. */
  suspectKey(): void;
}

/** How long a process without the key uses the recorded budget after a rotation. */
const TRUSTED_MS = 10_000;
/** How long a process with the key assumes that no other process has a newer key. */
const COMPARED_EVERY_MS = 60_000;

/** Finds the budget of a connection. */
export function createBudgetIds(
  table: Table,
  clock: () => number,
  keyHolder: (connection: string) => KeyHolder | undefined,
) {
  const known = new Map<string, { recorded: string; at: number }>();

  async function recordedOf(connection: string, maxAgeMs: number): Promise<string | undefined> {
    const last = known.get(connection);
    if (last && last.at + maxAgeMs > clock()) return last.recorded;
    const { budget } = (await table.get(keys.budgetOf(connection))) ?? {};
    const recorded = typeof budget === 'string' && budget !== '' ? budget : undefined;
    if (recorded !== undefined) known.set(connection, { recorded, at: clock() });
    return recorded;
  }

  /** Returns undefined without the key. Unless the key can be read in the next moment, the sender reports why. */
  const ownOf = async (holder: KeyHolder | undefined) => holder?.budgetId().catch(() => undefined);

  /**
   * Records the budget of a new key. It begins with the calls of the last key, because it is unknown what the service
   * still counts after a rotation. If slots were taken before the first key could be read, its budget has their calls.
   */
  async function record(connection: string, own: string, before = connection): Promise<void> {
    const last = await table.getEvenExpired(keys.budget(before));
    if (last) await table.put({ ...last, ...keys.budget(own) }, { expression: 'attribute_not_exists(#pk)' });
    await table.put({ ...keys.budgetOf(connection), budget: own });
    known.set(connection, { recorded: own, at: clock() });
  }

  return {
    /**
     * Returns the id of the connection's budget. A process with the key uses the key's budget, and records it for
     * processes without the key.
     */
    async of(connection: string): Promise<string> {
      const holder = keyHolder(connection);
      const own = await ownOf(holder);
      if (own === undefined) return (await recordedOf(connection, TRUSTED_MS)) ?? connection;
      if ((await recordedOf(connection, COMPARED_EVERY_MS)) === own) return own;
      const recorded = await recordedOf(connection, 0);
      if (recorded === own) return own;
      // Another process may have a newer key.
      if (recorded !== undefined) holder?.suspectKey();
      const current = (await ownOf(holder)) ?? own;
      if (current !== recorded) await record(connection, current, recorded);
      return current;
    },
  };
}
