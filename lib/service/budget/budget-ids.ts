import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';

/** Who has the key of a connection. */
export interface KeyHolder {
  /** A digest of the instance and the key, which does not reveal them: the service counts the calls of each key. */
  budgetId(): Promise<string>;
  /** The key may have been replaced. */
  suspectKey(): void;
}

/** After a rotation, a process without the key looks at the other budget within this time. */
const TRUSTED_MS = 10_000;
/** For this long, a process with the key trusts that no other process has a newer key. */
const COMPARED_EVERY_MS = 60_000;

/** Which budget a connection uses. */
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

  /** Without the key nothing can be sent, and the sender finds out why. */
  const ownOf = async (holder: KeyHolder | undefined) => holder?.budgetId().catch(() => undefined);

  /**
   * The budget of a new key begins with the calls of the last one: what the service still counts after a rotation is not
   * known.
   */
  async function record(connection: string, own: string, before: string | undefined): Promise<void> {
    const last = before === undefined ? undefined : await table.getEvenExpired(keys.budget(before));
    if (last) await table.put({ ...last, ...keys.budget(own) }, { expression: 'attribute_not_exists(#pk)' });
    await table.put({ ...keys.budgetOf(connection), budget: own });
    known.set(connection, { recorded: own, at: clock() });
  }

  return {
    /** A process that has the key uses the budget of the key, and records it for those that do not have it. */
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
