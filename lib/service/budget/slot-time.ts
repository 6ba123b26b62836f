import type { Lane } from './lanes.ts';
import { callsBetween, DAY, type Limits, MINUTE, mostCallsIn, type Opening, openings, type Window } from './window.ts';

/** The two windows in which the service counts, and what the relay knows of a usual week and of people. */
export interface Windows {
  minute: Window;
  day: Window;
  /** The calls of the last week, except those of backfills. */
  events: Window;
  /** The calls for people in the last ten minutes. */
  people: Window;
  /** Until then, a person's command that has begun probably asks for its next call; epoch milliseconds. */
  busyUntil: number;
}

/** The order in which callers get slots: `urgent` is for resends and for searches after a lost answer. */
export type Rank = 'urgent' | Lane;

/**
 * Capacity that a rank keeps free for the others. After each call of the rank, `atOnce` more calls can be sent, each
 * within `withinMs` of the one before, and then one more every `everyMs`: `total` in all.
 *
 * While slots open all the time, a reserve costs next to nothing: what opens next is the reserve. After a burst, when no
 * slot opens for a minute, the same rule keeps as many slots free as people may want until then.
 */
interface Reserve {
  /** This many slots are free at any time, so that the next caller of another rank does not wait for one to open. */
  free: number;
  atOnce: number;
  withinMs: number;
  everyMs: number;
  total: number;
}

/** The part of each limit that `background` keeps free for people; of the minute, the other ranks keep a part of that. */
const PEOPLES_SHARE = { minute: 0.125, day: 0.1 };
/**
 * The reserve follows what people use: three times their share of the minute, so that a backlog sends evenly and does not
 * use up in seconds what opens together. It takes at most this part of the minute.
 */
const TIMES_USED = 3;
const MOST_OF_MINUTE = 0.7;
/** What people use is the use of the busiest two of the last ten minutes. */
const PEOPLE_OVER_MS = 2 * MINUTE;
/** The part of the reserve that can be sent as fast as slots open. */
const AT_ONCE_PART = 0.15;
/**
 * One slot is free at any time for each 24 calls a minute that people use, up to three. Each costs 0.8% of a limit of 120.
 */
const CALLS_PER_FREE_SLOT = 24;
const MOST_FREE_FOR_PEOPLE = 3;
/**
 * While a person's command is under way, this many more slots are left to its next calls: between two of its calls it does
 * not ask, and what opens then would go to the backlog.
 */
const FREE_WHILE_BUSY = 3;
/** This many calls of people can be sent as fast as slots open, however long the backlog is. */
const PEOPLE_AT_ONCE = 5;
/**
 * Resends keep half as much free: a hundred lost answers must not keep a person waiting. Further commands keep more, for
 * another person's first: but less than `background`, which they go ahead of.
 */
const PART_OF_SHARE: Readonly<Record<Exclude<Rank, 'interactive'>, number>> = {
  urgent: 0.5,
  further: 0.75,
  background: 1,
  backfill: 2,
};
/** Backfills leave this many slots at once to events, besides those that events leave to people. */
const EVENTS_AT_ONCE = 5;
/** Each costs backfills 0.8% of a limit of 120. With two of them, hardly anyone waits for a slot because of a backfill. */
const FREE_OF_BACKFILL = 2;
/** The part of the day that backfills leave to all others, and the most that they leave to those that are expected. */
const OTHERS_OF_DAY = { always: 0.2, expected: 0.5 };
/** The part of the day that stays free for people to the last: they cannot wait for tomorrow. */
const PEOPLE_AT_ONCE_OF_DAY = 0.005;
/** The part of the day that people leave to resends, which cannot wait for tomorrow either. */
const URGENT_OF_DAY = 0.002;
/** Below this limit a minute is too short to keep single slots free in it. */
const SMALL_MINUTE = 20;

/** A slot is used again a minute after its call was answered, with a second for the flight and one for the clocks. */
const SLOT_MS = MINUTE + 2_000;

const upTo = (slots: number, withinMs: number): Reserve => ({
  free: 0,
  atOnce: slots,
  withinMs,
  everyMs: 0,
  total: slots,
});

/**
 * @param peoples calls a minute that people have used lately
 * @param isBusy whether a command of several calls is under way
 */
function reserveOfMinute(rank: Rank, limit: number, peoples: number, isBusy: boolean): Reserve {
  const withinMs = SLOT_MS / limit;
  if ((rank === 'urgent' || rank === 'interactive') && limit < SMALL_MINUTE) return upTo(0, withinMs);
  if (rank === 'interactive') return upTo(1, withinMs);
  // Resends cannot wait for long, and a person's further commands are what people use.
  const isAfterPeople = rank === 'background' || rank === 'backfill';
  const used = isAfterPeople ? Math.min(peoples * TIMES_USED, limit * MOST_OF_MINUTE) : 0;
  const ofPeople = Math.max(limit * PEOPLES_SHARE.minute, used);
  const ofPeopleAtOnce = Math.max(PEOPLE_AT_ONCE, Math.ceil(ofPeople * AT_ONCE_PART));
  const share = ofPeople * PART_OF_SHARE[rank];
  const most = ofPeopleAtOnce + (rank === 'backfill' ? EVENTS_AT_ONCE : 0);
  const atOnce = Math.min(most, Math.ceil((limit * most) / (SMALL_MINUTE * PEOPLE_AT_ONCE)), limit - 1);
  const least = rank === 'backfill' ? FREE_OF_BACKFILL : 0;
  const forPeople = Math.max(least, Math.min(MOST_FREE_FOR_PEOPLE, Math.floor(peoples / CALLS_PER_FREE_SLOT)));
  const mayBeFree = Math.min(forPeople + (isBusy ? FREE_WHILE_BUSY : 0), Math.floor(limit / SMALL_MINUTE));
  const free = isAfterPeople ? mayBeFree : 0;
  const total = Math.min(atOnce + Math.floor(share), Math.floor(limit * MOST_OF_MINUTE));
  return { free, atOnce, withinMs, everyMs: MINUTE / share, total };
}

/**
 * @param expected how many calls of events and people are still to come, if this day is like the busiest of the last week
 */
function reserveOfDay(rank: Rank, limit: number, expected: number): Reserve {
  if (rank === 'urgent') return upTo(0, 0);
  const urgent = Math.floor(limit * URGENT_OF_DAY);
  if (rank === 'interactive') return upTo(urgent, 0);
  const toPeople = urgent + Math.floor(limit * PEOPLE_AT_ONCE_OF_DAY);
  if (rank === 'further') return upTo(Math.min(toPeople, limit - 1), 0);
  const share = limit * (rank === 'backfill' ? OTHERS_OF_DAY.always : PEOPLES_SHARE.day);
  const toEvents = rank === 'backfill' ? Math.min(expected, Math.floor(limit * OTHERS_OF_DAY.expected)) : 0;
  const atOnce = toPeople + toEvents;
  return { free: 0, atOnce, withinMs: 0, everyMs: DAY / share, total: Math.min(atOnce + Math.floor(share), limit - 1) };
}

/**
 * When a caller of a rank may send, with this number of others of its rank ahead of it: negative infinity for at once, infinity
 * if the minute has no opening for it yet, because the calls that will open one have not been sent.
 */
export function slotTime(
  { minute, day, events, people, busyUntil }: Windows,
  limits: Limits,
  rank: Rank,
  ahead: number,
  now: number,
): { at: number; by: 'minute' | 'day' } {
  const reserve = reserveOfMinute(
    rank,
    limits.perMinute,
    mostCallsIn(people, PEOPLE_OVER_MS) * (MINUTE / PEOPLE_OVER_MS),
    now < busyUntil,
  );
  const isKnown = ahead + reserve.total < limits.perMinute;
  const byMinute = isKnown ? openedAt(openings(minute, limits.perMinute), reserve, ahead) : Number.POSITIVE_INFINITY;
  const expected = Math.max(0, mostCallsIn(events, DAY) - callsBetween(events, now - DAY));
  const byDay = openedAt(openings(day, limits.perDay), reserveOfDay(rank, limits.perDay, expected), ahead);
  return byDay > byMinute ? { at: byDay, by: 'day' } : { at: byMinute, by: 'minute' };
}

/** When the window has room for a caller, and after it for the reserve. */
function openedAt(opened: readonly Opening[], reserve: Reserve, ahead: number): number {
  let at = Number.NEGATIVE_INFINITY;
  for (const opening of opened) {
    // The place in the reserve of the first slot that has to wait for this opening.
    const place = Math.max(0, opening.from - ahead);
    if (place > reserve.total) break;
    const { free, atOnce, withinMs, everyMs } = reserve;
    const quick = Math.max(0, Math.min(place, atOnce) - free);
    at = Math.max(at, opening.at - quick * withinMs - Math.max(0, place - atOnce) * everyMs);
  }
  return at;
}
