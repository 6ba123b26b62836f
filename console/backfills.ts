import { type Backfill, createBackfills } from '../lib/automations/backfill/backfills.ts';
import { foreseeCalls } from '../lib/engine/operate/foresee-calls.ts';
import type { Budget } from '../lib/service/budget/budget.ts';
import type { BackfillNow } from './contract.ts';
import type { OperatedRelay } from './relay.ts';

/** How long a backfill that has ended is shown. */
const SHOWN_MS = 7 * 86_400_000;

/** The backfills that have not ended, or ended within a week. Their counts may be a minute old. */
export async function readBackfills(relay: OperatedRelay, budget: Budget): Promise<BackfillNow[]> {
  const { table, jobs } = relay.stores;
  const { clock } = relay.runtime;
  const backfills = await createBackfills(table, clock).list();
  const shown = backfills.filter(({ finishedAt = clock() }) => clock() - finishedAt <= SHOWN_MS);
  return Promise.all(
    shown.map(async (backfill) => {
      const { repository, status, isRead, counts, expected } = backfill;
      const { open, done, left, parked } = counts;
      const taken = open + done + left + parked;
      return {
        id: repository,
        repository,
        done,
        notDone: left + parked,
        status: status === 'running' && !isRead ? 'reading' : status,
        total: isRead ? taken : Math.max(expected, taken),
        expectedAt: status === 'running' ? await expectedAt(backfill, Math.max(expected - taken, 0) + open) : null,
      };
    }),
  );

  async function expectedAt({ connection }: Backfill, calls: number): Promise<number | null> {
    const limits = relay.runtime.config.connections[connection]?.limits;
    if (!limits || calls === 0) return null;
    const { at } = await foreseeCalls({ connection, limits, lane: 'backfill', calls }, { budget, jobs });
    return at;
  }
}
