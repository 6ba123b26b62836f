import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** A connection that fails as a whole: its key is refused, its host is down, a maintenance page answers for it. */
export interface Outage {
  /** What the last call met. */
  why: string;
  /** Epoch milliseconds. */
  since: number;
  /** Nobody calls before then; whoever comes first afterwards is the probe. */
  until: number;
  /** Probes that failed. */
  failures: number;
}

/** May a call go out, first a harmless one as a probe where `probe` says so; or when to come back. */
export type Gate = { open: true; probe: boolean } | { open: false; comeBackAt: number; why: string };

/**
 * While a connection fails as a whole its jobs wait instead of being parked by the thousand. One of them at a time
 * probes, with pauses that double; the first that gets through ends the outage for everyone.
 */
export interface Outages {
  /** Asked before each call. */
  gate(connection: string): Promise<Gate>;
  /** A call showed that nothing works. @returns until when the connection is left alone */
  failed(connection: string, why: string): Promise<number>;
  /** A call got no sensible answer, which may be its own bad luck; several in a row are an outage. */
  suspect(connection: string, why: string): Promise<void>;
  /** The service answered, whatever it said. */
  answered(connection: string): Promise<void>;
  view(connection: string): Promise<Outage | undefined>;
}

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** A probe that has not reported by then was killed, and the next caller takes its place. */
const PROBE_MS = 15_000;
/** Those who wait come back spread over this long, so that they do not all meet the probe. */
const SPREAD_MS = 5_000;
/** For this long nobody looks again whether a connection that works still does. */
const TRUSTED_MS = 5_000;
const SUSPICIONS = 4;

export function createOutages(table: Table, clock: () => number, random: () => number): Outages {
  const trustedUntil = new Map<string, number>();
  const suspicions = new Map<string, number>();
  const probing = new Set<string>();

  const view = async (connection: string) => (await table.get(keys.outage(connection))) as Outage | undefined;

  /** Writes unless the outage is another one by now. */
  async function write(connection: string, next: Outage, last: Outage | undefined): Promise<boolean> {
    return table.put(
      { ...keys.outage(connection), ...next },
      last
        ? { expression: '#until = :until', values: { until: last.until } }
        : { expression: 'attribute_not_exists(#pk)' },
    );
  }

  const outages: Outages = {
    view,
    async gate(connection) {
      const now = clock();
      if ((trustedUntil.get(connection) ?? 0) > now) return { open: true, probe: false };
      const outage = await view(connection);
      if (!outage) {
        trustedUntil.set(connection, now + TRUSTED_MS);
        return { open: true, probe: false };
      }
      if (outage.until <= now && (await write(connection, { ...outage, until: now + PROBE_MS }, outage))) {
        probing.add(connection);
        return { open: true, probe: true };
      }
      const until = Math.max(outage.until, now + PROBE_MS);
      return {
        open: false,
        comeBackAt: until + random() * SPREAD_MS,
        why: `the connection ${connection} fails as a whole since ${new Date(outage.since).toISOString()}: ${outage.why}`,
      };
    },
    async failed(connection, why) {
      const now = clock();
      trustedUntil.delete(connection);
      const last = await view(connection);
      // A call from before the outage reports late: it is known already.
      if (last && last.until > now && !probing.has(connection)) return last.until;
      probing.delete(connection);
      const failures = (last?.failures ?? 0) + 1;
      const until = now + Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      await write(connection, { why, since: last?.since ?? now, until, failures }, last);
      return until;
    },
    async suspect(connection, why) {
      const inARow = (suspicions.get(connection) ?? 0) + 1;
      suspicions.set(connection, inARow);
      if (inARow >= SUSPICIONS || probing.has(connection)) await outages.failed(connection, why);
    },
    async answered(connection) {
      suspicions.delete(connection);
      if (!probing.delete(connection)) return;
      await table.delete(keys.outage(connection));
    },
  };
  return outages;
}
