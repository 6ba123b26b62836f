import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Budget, BudgetView, LaneView } from '../budget/budget.ts';
import { ofEachLane } from '../budget/lanes.ts';
import type { Limits } from '../budget/window.ts';
import { type Breaker, type OpenBreaker, openBreakers, readBreakers, WHOLE } from './breaker-item.ts';
import { callsProberAt } from './breakers.ts';

/** The use and the remaining budget of a connection, for people. */
export interface ConnectionView extends BudgetView {
  /** The stopped operations, or the whole connection. `until` is the latest time of the next try, if a job waits. */
  stopped: OpenBreaker[];
  /** True if only probes are sent. The lanes then have slots that they cannot use. */
  isStopped: boolean;
  refusesKey: boolean;
  /** Set if the last calls failed, but the connection is not stopped yet. */
  failing?: Breaker;
}

const WITHOUT_SLOTS: LaneView = { left: 0, nextSlotAt: Number.POSITIVE_INFINITY };

/**
 * Returns the view for the terminal, the console and Slack. The lanes of a stopped connection can send nothing, even
 * with budget left.
 */
export async function viewConnection(
  connection: string,
  limits: Limits,
  { budget, table, clock }: { budget: Budget; table: Table; clock: () => number },
): Promise<ConnectionView> {
  const [view, item] = await Promise.all([budget.view(connection, limits), table.get(keys.breaker(connection))]);
  const { breakers } = readBreakers(item, clock());
  const stopped = openBreakers(breakers).map((one) => {
    const nextAt = one.operation === undefined ? one.until : callsProberAt(one);
    return { ...one, until: Math.max(nextAt, view.pausedUntil ?? 0) };
  });
  const whole = breakers[WHOLE];
  const isStopped = stopped.some(({ operation }) => operation === undefined);
  return {
    ...view,
    lanes: isStopped ? ofEachLane(() => WITHOUT_SLOTS) : view.lanes,
    stopped,
    isStopped,
    refusesKey: isStopped && whole?.refusesKey === true,
    ...(whole && whole.failures > 0 && !isStopped && { failing: whole }),
  };
}
