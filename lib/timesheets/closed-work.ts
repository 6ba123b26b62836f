import { DAY_MS } from '../dates.ts';
import type { Stores } from '../runtime.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';

/** What a person finished on GitHub. */
interface ClosedWork {
  /** `merged acme/web#12` */
  did: string;
  /** The issues that it closed: `acme/web#40`. */
  issues: readonly string[];
  /** Epoch milliseconds. */
  at: number;
}

/** The reminders of a day end earlier. */
const KEPT_MS = 7 * DAY_MS;
const MOST = 50;

/** Remembers for a few days what a person finished, by their login, for what their reminders propose. */
export async function noteClosedWork(
  login: string,
  work: ClosedWork,
  { table, clock }: Pick<Stores, 'table' | 'clock'>,
): Promise<void> {
  const key = keys.closedWork(login, new Date(work.at).toISOString(), work.did);
  await table.put({ ...key, ...work, expiresAt: expiry(clock(), KEPT_MS) });
}

/** What a person finished last, the newest first. */
export async function closedWorkOf(login: string, { table }: Pick<Stores, 'table'>): Promise<ClosedWork[]> {
  const items = await table.lastOf(keys.closedWork(login, '', '').pk, MOST);
  return items.map(({ did, issues, at }) => ({
    did: String(did),
    issues: Array.isArray(issues) ? issues.map(String) : [],
    at: Number(at),
  }));
}
