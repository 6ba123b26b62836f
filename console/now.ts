import { createBudget } from '../lib/budget/budget.ts';
import { lanes } from '../lib/budget/lanes.ts';
import { createBreakers } from '../lib/connection/breakers.ts';
import { partnerSecret } from '../lib/secrets/secrets.ts';
import type { ConnectionNow, Count, Now } from './contract.ts';
import { statuses } from './jobs.ts';
import type { ConsoleRelay } from './relay.ts';

/** A higher count would tell the operator little more, and costs reads. */
const COUNTED_UP_TO = 100;

export async function readNow(relay: ConsoleRelay): Promise<Now> {
  const { stores, runtime } = relay;
  const [connections, counts] = await Promise.all([
    Promise.all(Object.keys(runtime.config.connections).map((name) => connectionNow(relay, name))),
    Promise.all(
      statuses.map(async (status) => countOf((await stores.jobs.list(status, { limit: COUNTED_UP_TO + 1 })).length)),
    ),
  ]);
  const [queued, running, waiting, succeeded, parked] = counts;
  const none = { jobs: 0, more: false };
  return {
    at: runtime.clock(),
    connections,
    counts: {
      queued: queued ?? none,
      running: running ?? none,
      waiting: waiting ?? none,
      succeeded: succeeded ?? none,
      parked: parked ?? none,
    },
    backfills: [],
  };
}

const countOf = (found: number): Count => ({ jobs: Math.min(found, COUNTED_UP_TO), more: found > COUNTED_UP_TO });

export async function connectionNow({ stores, runtime }: ConsoleRelay, connection: string): Promise<ConnectionNow> {
  const { config, clock, random } = runtime;
  const limits = config.connections[connection]?.limits;
  if (!limits) throw new Error(`relay.config.ts has no connection ${connection}`);
  const budget = createBudget(stores.table, clock);
  const breakers = createBreakers({ table: stores.table, clock, random });
  const [view, stopped, lines, secret] = await Promise.all([
    budget.view(connection, limits),
    breakers.listOpen(connection),
    Promise.all(lanes.map((lane) => stores.jobs.line(connection, lane, COUNTED_UP_TO + 1))),
    stores.secrets.current(`partner/${connection}`, partnerSecret).catch(() => undefined),
  ]);
  return {
    connection,
    service: secret?.baseUrl ?? 'unknown',
    minute: view.minute,
    day: view.day,
    dayUsedUpAt: null,
    pausedUntil: view.pausedUntil,
    stopped: stopped.map(({ operation, since, why, until }) => ({
      ...(operation !== undefined && { operation }),
      ...{ since, why, probeAt: until },
    })),
    lanes: lanes.map((lane, index) => {
      const { left, nextSlotAt } = view.lanes[lane];
      return {
        ...{ lane, left },
        nextSlotAt: Number.isFinite(nextSlotAt) ? nextSlotAt : null,
        inLine: countOf(lines[index]?.length ?? 0),
        oldestSince: null,
      };
    }),
  };
}
