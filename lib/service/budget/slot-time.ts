import type { Lane } from './lanes.ts';
import { callsBetween, DAY, type Limits, MINUTE, mostCallsIn, type Opening, openings, type Window } from './window.ts';

/** The two windows in which the service counts, and the relay's records of the last week and of people's calls. */
export interface Windows {
  minute: Window;
  day: Window;
  /** The calls of the last week, except those of backfills. */
  events: Window;
  /** The calls for people in the last ten minutes. */
  people: Window;
  /** Until then, a person's command in progress probably asks for its next call; epoch milliseconds. */
  busyUntil: number;
}

/** The order in which callers get slots. `urgent` is for resends, and for searches after a lost answer. */
export type Rank = 'urgent' | Lane;

/**
 * Capacity that a rank keeps free for the others. After each call of the rank, `atOnce` more calls can be sent, each
 * within `withinMs` of the last one, and then one more every `everyMs`: `total` altogether.
 *
 * While slots open all the time, a reserve costs almost nothing, because the next openings are the reserve. After a
 * burst, when no slot opens for a minute, it keeps as many slots free as people may need until then.
 */
interface Reserve {
  /** How many slots are always free, so that the next caller of another rank does not wait for an opening. */
  free: number;
  atOnce: number;
  withinMs: number;
  everyMs: number;
  total: number;
}

/** The part of each limit that `background` keeps free for people. Of the minute, the other ranks keep a part of it. */
const PEOPLES_SHARE = { minute: 0.125, day: 0.1 };
/**
 * How many times people's use of the minute is kept free for them. A backlog is then sent evenly, and does not use
 * slots up in seconds that open together. `MOST_OF_MINUTE` is the largest reserve, as a part of the limit.
 */
const TIMES_USED = 3;
const MOST_OF_MINUTE = 0.7;
/** People's use is measured over the busiest two of the last ten minutes. */
const PEOPLE_OVER_MS = 2 * MINUTE;
/** The part of the reserve that can be sent as fast as slots open. */
const AT_ONCE_PART = 0.15;
/**
 * For each 24 calls a minute that people use, one slot is always free, up to three. Each costs 0.8% of a limit of 120.
 */
const CALLS_PER_FREE_SLOT = 24;
const MOST_FREE_FOR_PEOPLE = 3;
/**
 * How many more slots stay free while a person's command is in progress. Between two of its calls it asks for no slot,
 * so a backlog would take the openings.
 */
const FREE_WHILE_BUSY = 3;
/** How many calls of people can be sent as fast as slots open, behind any backlog. */
const PEOPLE_AT_ONCE = 5;
/**
 * The part of people's reserve that each rank keeps free. For `urgent` it is half, so that a hundred lost answers do
 * not keep a person waiting. `further` keeps free more, for another person's first command, but less than `background`,
 * because it goes ahead of that.
 */
const PART_OF_SHARE: Readonly<Record<Exclude<Rank, 'interactive'>, number>> = {
  urgent: 0.5,
  further: 0.75,
  background: 1,
  backfill: 2,
};
/** How many slots at once backfills leave to events, in addition to those that events leave to people. */
const EVENTS_AT_ONCE = 5;
/**
 * How many slots backfills always leave free. Each costs backfills 0.8% of a limit of 120. With two, a backfill hardly
 * ever makes anyone wait for a slot.
 */
const FREE_OF_BACKFILL = 2;
/**
 * The part of the day that backfills always leave to other lanes, and the largest part that they leave to expected
 * calls.
 */
const OTHERS_OF_DAY = { always: 0.2, expected: 0.5 };
/** The part of the day that stays free for people until the end, because people cannot wait until tomorrow. */
const PEOPLE_AT_ONCE_OF_DAY = 0.005;
/** The part of the day that people leave to resends, which cannot wait until tomorrow either. */
const URGENT_OF_DAY = 0.002;
/** Below this limit, a minute is too short to keep single slots free in it. */
const SMALL_MINUTE = 20;

/**
 * A slot is free one minute after its call was answered, plus one second for the network and one for clock differences.
 */
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
 * @param isBusy true if a command of several calls is in progress
 */
function reserveOfMinute(rank: Rank, limit: number, peoples: number, isBusy: boolean): Reserve {
  const withinMs = SLOT_MS / limit;
  if ((rank === 'urgent' || rank === 'interactive') && limit < SMALL_MINUTE) return upTo(0, withinMs);
  if (rank === 'interactive') return upTo(1, withinMs);
  // Resends cannot wait long, and `further` itself is part of people's use.
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
 * @param expected how many calls of events and people are still to come, if today is like the busiest day of the last
 * week
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
 * Returns when a caller of a rank may send, with `ahead` others of its rank ahead of it. Negative infinity means now.
 * Infinity means that the minute has no opening for the caller yet, because the calls before it have not been sent.
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

/** Returns when the window has room for a caller, and after it for the reserve. */
function openedAt(opened: readonly Opening[], reserve: Reserve, ahead: number): number {
  let at = Number.NEGATIVE_INFINITY;
  for (const opening of opened) {
    // The place in the reserve of the first slot that must wait for this opening.
    const place = Math.max(0, opening.from - ahead);
    if (place > reserve.total) break;
    const { free, atOnce, withinMs, everyMs } = reserve;
    const quick = Math.max(0, Math.min(place, atOnce) - free);
    at = Math.max(at, opening.at - quick * withinMs - Math.max(0, place - atOnce) * everyMs);
  }
  return at;
}
