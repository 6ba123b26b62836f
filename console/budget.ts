import { createBudget } from '../lib/service/budget/budget.ts';
import { lanes } from '../lib/service/budget/lanes.ts';
import type { Window } from '../lib/service/budget/window.ts';
import { ifReadable } from '../lib/state/table/unreadable-item.ts';
import type { BudgetDetail } from './contract.ts';
import type { NowReader } from './now.ts';
import type { OperatedRelay } from './relay.ts';
import { rowOf } from './row.ts';

/** The jobs at the front of a waiting line that are shown. */
const SHOWN_IN_LINE = 10;
const SECOND = 1_000;
const SECONDS = 60;

/** @throws {HttpError} for a connection that the configuration does not have */
export async function budgetDetail(
  { stores, runtime }: OperatedRelay,
  now: NowReader,
  connection: string,
): Promise<BudgetDetail> {
  const at = runtime.clock();
  const detail = await now.connection(connection);
  const [{ minute, day }, waiting] = await Promise.all([
    createBudget({ table: stores.table, clock: runtime.clock }).windows(connection),
    Promise.all(lanes.map(async (lane) => ({ lane, jobs: await frontOf(connection, lane) }))),
  ]);
  const dayCalls = day.calls.map((calls, index) => ({ from: (day.first + index) * day.bucketMs, calls }));
  return { ...detail, at, minuteCalls: callsBySecond(minute, at), dayCalls, waiting };

  async function frontOf(name: string, lane: (typeof lanes)[number]) {
    const standing = await stores.jobs.line(name, lane, SHOWN_IN_LINE);
    const jobs = await Promise.all(standing.map(({ id }) => ifReadable(stores.jobs.get(id))));
    return jobs.filter((job) => job !== undefined).map(rowOf);
  }
}

/** The calls of each second of the last minute, oldest first. Calls that are about to be sent count for the last. */
function callsBySecond({ first, bucketMs, calls }: Window, now: number): number[] {
  const bySecond = Array<number>(SECONDS).fill(0);
  for (const [index, some] of calls.entries()) {
    const secondsAgo = Math.floor((now - (first + index) * bucketMs) / SECOND);
    const place = Math.min(Math.max(SECONDS - 1 - secondsAgo, 0), SECONDS - 1);
    bySecond[place] = (bySecond[place] ?? 0) + some;
  }
  return bySecond;
}
