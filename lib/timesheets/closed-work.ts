import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';

/** What a person finished on GitHub. */
export interface ClosedWork {
  /** `merged acme/web#12` */
  did: string;
  /** The issues that it closed: `acme/web#40`. */
  issues: readonly string[];
  /** Epoch milliseconds. */
  at: number;
}

/** Remembers for a few days what people finished, by their login, for what their reminders propose. */
export interface ClosedWorks {
  note(login: string, work: ClosedWork): Promise<void>;
  /** The last of a person, the newest first. */
  of(login: string): Promise<ClosedWork[]>;
}

/** No one is reminded of a day that long after it. */
const KEPT_MS = 7 * 86_400_000;
const MOST = 50;

export function createClosedWorks(table: Table, clock: () => number): ClosedWorks {
  const keyOf = (login: string, { at, did }: ClosedWork) => keys.closedWork(login, new Date(at).toISOString(), did);
  return {
    async note(login, work) {
      await table.put({ ...keyOf(login, work), ...work, expiresAt: expiry(clock(), KEPT_MS) });
    },
    async of(login) {
      const items = await table.lastOf(keys.closedWork(login, '', '').pk, MOST);
      return items.map(({ did, issues, at }) => ({
        did: String(did),
        issues: Array.isArray(issues) ? issues.map(String) : [],
        at: Number(at),
      }));
    },
  };
}
