import type { Budget, BudgetView, LaneView } from '../budget/budget.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Limits } from '../budget/window.ts';
import type { Breaker } from './breaker-item.ts';
import type { Breakers, Scope } from './breakers.ts';

/** What a connection sends and has left, for people. */
export interface ConnectionView extends BudgetView {
  /** What does not work: operations, or the whole connection. */
  stopped: (Breaker & Scope)[];
  /** No call is sent but probes: the lanes have slots, and cannot use them. */
  isStopped: boolean;
}

/** The same for terminal, console and Slack: a lane of a stopped connection can send nothing, whatever its budget. */
export async function viewConnection(
  connection: string,
  limits: Limits,
  { budget, breakers }: { budget: Budget; breakers: Breakers },
): Promise<ConnectionView> {
  const [view, stopped] = await Promise.all([budget.view(connection, limits), breakers.listOpen(connection)]);
  const isStopped = stopped.some(({ operation }) => operation === undefined);
  return { ...view, lanes: isStopped ? withoutSlots() : view.lanes, stopped, isStopped };
}

function withoutSlots(): Record<Lane, LaneView> {
  const none: LaneView = { left: 0, nextSlotAt: Number.POSITIVE_INFINITY };
  return { interactive: none, further: none, background: none, backfill: none };
}
