import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** A share of the budget: `interactive` where a person is waiting, `background` for everything else. */
export type Lane = 'interactive' | 'background';

/** What a connection's key may send (interface document, Limits). */
export interface Limits {
  perMinute: number;
  perDay: number;
}

export interface SlotRequest {
  connection: string;
  limits: Limits;
  lane: Lane;
  /** Resends and searches for what may have been created go ahead of everything else. */
  first?: boolean;
}

/** Now, or when to come back and why; the time is in epoch milliseconds. */
export type SlotAnswer = { granted: true } | { granted: false; comeBackAt: number; why: string };

/** What a connection has left, for people. */
export interface BudgetView {
  minute: { used: number; limit: number };
  day: { used: number; limit: number };
  pausedUntil: number | null;
}

/** The shared rate budget of every connection. Where it cannot be read or written it throws, and nothing is sent. */
export interface Budget {
  requestSlot(request: SlotRequest): Promise<SlotAnswer>;
  /** Stops everyone on that connection until then: the service said so, by a 429 or otherwise. */
  pause(connection: string, until: number): Promise<void>;
  view(connection: string, limits: Limits): Promise<BudgetView>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/**
 * The service counts a call somewhere between the grant of its slot and the end of its time-out. Keeping a grant for
 * that much longer than the minute keeps every minute of the service's, however it counts.
 */
const LONGEST_FLIGHT_MS = 12_000;
/** What `background` leaves to people, of the minute and of the day. */
const INTERACTIVE_SHARE = 0.1;
const CONTENDED_TRIES = 25;

interface BudgetItem {
  version: number;
  /** When slots of the last minute were granted, oldest first. */
  granted: number[];
  /** Slots granted in each hour since the epoch that touches the last day. */
  hours: Record<string, number>;
  pausedUntil: number;
}

/**
 * Never more than a limit in any minute or day, however the service counts them. It errs on the side of sending less:
 * a grant counts for 72 s instead of 60, and days are counted in whole hours.
 */
export function createBudget(table: Table, clock: () => number, random: () => number = Math.random): Budget {
  async function read(connection: string, now: number): Promise<BudgetItem> {
    const item = (await table.get(keys.budget(connection))) as Partial<BudgetItem> | undefined;
    const firstHour = Math.floor((now - LONGEST_FLIGHT_MS) / HOUR) - 24;
    return {
      version: item?.version ?? 0,
      granted: (item?.granted ?? []).filter((at) => at > now - MINUTE - LONGEST_FLIGHT_MS),
      hours: Object.fromEntries(Object.entries(item?.hours ?? {}).filter(([hour]) => Number(hour) >= firstHour)),
      pausedUntil: item?.pausedUntil ?? 0,
    };
  }

  /** Reads, lets `decide` change what was read, and writes it unless somebody else was faster: then once more. */
  async function change<T>(
    connection: string,
    decide: (item: BudgetItem, now: number) => { answer: T; write: boolean },
  ): Promise<T> {
    for (let tries = 1; tries <= CONTENDED_TRIES; tries++) {
      const now = clock();
      const item = await read(connection, now);
      const { answer, write } = decide(item, now);
      if (!write) return answer;
      const written = await table.put(
        { ...keys.budget(connection), ...item, version: item.version + 1 },
        { expression: 'attribute_not_exists(#pk) OR #version = :version', values: { version: item.version } },
      );
      if (written) return answer;
      await new Promise((resolve) => setTimeout(resolve, random() * 10 * tries));
    }
    throw new Error(`the budget of ${connection} is contended: ${CONTENDED_TRIES} writes in a row came second`);
  }

  return {
    async requestSlot({ connection, limits, lane, first = false }) {
      return change<SlotAnswer>(connection, (item, now) => {
        const refused = refusal(item, limits, lane === 'interactive' || first, now);
        if (refused) return { answer: { granted: false, ...refused }, write: false };
        const hour = String(Math.floor(now / HOUR));
        item.granted.push(now);
        item.hours[hour] = (item.hours[hour] ?? 0) + 1;
        return { answer: { granted: true }, write: true };
      });
    },
    async pause(connection, until) {
      await change(connection, (item) => {
        item.pausedUntil = Math.max(item.pausedUntil, until);
        return { answer: undefined, write: true };
      });
    },
    async view(connection, limits) {
      const now = clock();
      const { granted, hours, pausedUntil } = await read(connection, now);
      return {
        minute: { used: granted.filter((at) => at > now - MINUTE).length, limit: limits.perMinute },
        day: { used: slotsIn(hours), limit: limits.perDay },
        pausedUntil: pausedUntil > now ? pausedUntil : null,
      };
    },
  };
}

/** Why no slot can be had now, and when to come back; undefined where one can. */
function refusal(
  item: BudgetItem,
  limits: Limits,
  whole: boolean,
  now: number,
): { comeBackAt: number; why: string } | undefined {
  const { granted, hours, pausedUntil } = item;
  if (pausedUntil > now) return { comeBackAt: pausedUntil, why: 'the connection is paused' };
  const used = slotsIn(hours);
  if (used >= share(limits.perDay, whole)) {
    const oldest = Math.min(...Object.keys(hours).map(Number));
    return {
      comeBackAt: (oldest + 25) * HOUR + LONGEST_FLIGHT_MS,
      why: `the day's ${limits.perDay} calls are used up`,
    };
  }
  const perMinute = share(limits.perMinute, whole);
  if (granted.length >= perMinute) {
    const leaving = granted[granted.length - perMinute] ?? now;
    return {
      comeBackAt: leaving + MINUTE + LONGEST_FLIGHT_MS,
      why: `the minute's ${limits.perMinute} calls are used up`,
    };
  }
  return undefined;
}

function share(limit: number, whole: boolean): number {
  return whole ? limit : Math.max(1, Math.floor(limit * (1 - INTERACTIVE_SHARE)));
}

function slotsIn(hours: Readonly<Record<string, number>>): number {
  return Object.values(hours).reduce((sum, slots) => sum + slots, 0);
}
