import type { BudgetState } from './budget-item.ts';
import { isOfPeople, type Lane } from './lanes.ts';
import { slotTime, type Windows } from './slot-time.ts';
import { add, callsIn, type Limits, trim, type Window } from './window.ts';

/**
 * The assumed time from a slot to the counting of its call: a second until the answer, a second for clock differences
 * (docs/decisions/0008-exact-budget.md), and up to four seconds by which a called job of a backfill is late.
 */
const COUNTED_AFTER_MS = 6_000;
/** After this many calls, the same pace is assumed for the rest. */
const MOST_FORESEEN = 20_000;

export interface Foreseen {
  lane: Lane;
  /** How many calls the lane has to send. */
  calls: number;
  /** How many jobs of all lanes are ahead. Each counts as one call. */
  ahead: number;
}

/**
 * Estimates when the last of a number of calls can be sent. Simulates the budget: each call takes the first slot of its
 * lane, and events come as in the last week, spread evenly.
 *
 * @returns epoch milliseconds
 */
export function foresee(state: BudgetState, limits: Limits, { lane, calls, ahead }: Foreseen, now: number): number {
  const { people, busyUntil } = state;
  const copied = { minute: copy(state.minute), day: copy(state.day), events: copy(state.events) };
  const windows: Windows = { ...copied, people, busyUntil };
  const eventsPerMs = callsIn(state.events) / state.events.lengthMs;
  let at = Math.max(now, state.pausedUntil);
  let events = 0;

  function send(as: Lane): void {
    for (;;) {
      const next = Math.max(at, slotTime(windows, limits, as, 0, at).at);
      if (next === at) break;
      events += (next - at) * eventsPerMs;
      at = next;
      for (const window of [windows.minute, windows.day, windows.events]) trim(window, at);
      for (; events >= 1; events--) count('background', at);
    }
    count(as, at);
  }

  function count(as: Lane, sentAt: number): void {
    const counted = as === 'backfill' ? [windows.minute, windows.day] : [windows.minute, windows.day, windows.events];
    for (const window of counted) add(window, sentAt + COUNTED_AFTER_MS);
  }

  const all = calls + ahead;
  const played = Math.min(all, MOST_FORESEEN);
  const begins = at;
  for (let sent = 0; sent < played; sent++) send(sent < ahead && !isOfPeople(lane) ? 'background' : lane);
  return begins + (at - begins) * (all / Math.max(1, played));
}

const copy = (window: Window): Window => ({ ...window, calls: [...window.calls] });
