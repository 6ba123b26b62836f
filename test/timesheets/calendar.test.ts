import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueReminder, dueSummary } from '../../lib/timesheets/calendar.ts';
import { seededRandom } from '../service/budget/virtual-time.ts';
import { EVERY_DAY, team } from './team.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'];
const HOLIDAYS = ['2026-01-01', '2026-04-03', '2026-04-06', '2026-05-01', '2026-10-03', '2026-12-25'];

const at = (time: string) => Date.parse(time);
const dateAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The quarters of an hour of 2026: some late, some twice, some missing, and sometimes none for hours. */
function* ticks(seed: number): Generator<number> {
  const random = seededRandom(seed);
  let missed = false;
  let silentUntil = 0;
  for (let tick = at('2025-12-31T00:00Z'); tick < at('2027-01-03T00:00Z'); tick += 15 * MINUTE) {
    if (tick < silentUntil) continue;
    const silent = random() < 0.002;
    if (silent) silentUntil = tick + random() * 5 * HOUR;
    // Never for six hours, because reminders of the late day would no longer be due.
    missed = !silent && !missed && random() < 0.2;
    if (missed) continue;
    const late = random() < 0.2 ? Math.floor(random() * 14 * MINUTE) : 0;
    yield tick + late;
    if (random() < 0.1) yield tick + late + Math.floor(random() * MINUTE);
  }
}

/** Everything that was due in the year, by the first time it was due. */
function dueOverTheYear(seed: number, dueAt: (now: number) => string | undefined): string[] {
  const due = new Set<string>();
  for (const tick of ticks(seed)) {
    const found = dueAt(tick);
    if (found !== undefined) due.add(found);
  }
  return [...due];
}

const days2026 = Array.from({ length: 365 }, (_, day) => dateAt(at('2026-01-01') + day * DAY));
const isWeekend = (date: string) => [0, 6].includes(new Date(date).getUTCDay());
const in2026 = (date: string) => date.startsWith('2026');

describe.each(ZONES)('over a year of late, doubled and missing ticks in %s', (timeZone) => {
  const anyYear = fc.tuple(fc.constantFrom('00:00', '02:00', '02:15', '09:00', '16:30', '23:55'), fc.integer());

  it('every working day is due, in order, even when the clocks change, and no weekend or holiday', () => {
    const working = days2026.filter((date) => !isWeekend(date) && !HOLIDAYS.includes(date));
    fc.assert(
      fc.property(anyYear, ([remindAt, seed]) => {
        const remindedOn = (change: object) => {
          const one = team({ timeZone, remindAt, ...change });
          return dueOverTheYear(seed, (now) => dueReminder(one, now)).filter(in2026);
        };
        expect(remindedOn({ holidays: HOLIDAYS })).toEqual(working);
        expect(remindedOn({ hours: EVERY_DAY })).toEqual(days2026);
      }),
      { numRuns: 1 },
    );
  });

  it('every week has its summary, holiday or not', () => {
    const anyWeekday = fc.constantFrom(['sun', 0], ['mon', 1], ['fri', 5]) as fc.Arbitrary<
      ['sun' | 'mon' | 'fri', number]
    >;
    fc.assert(
      fc.property(anyYear, anyWeekday, ([at, seed], [on, weekday]) => {
        const weekly = team({ timeZone, holidays: HOLIDAYS, summary: { channel: 'C0123', on, at } });
        const weekEnds = days2026
          .filter((date) => new Date(date).getUTCDay() === weekday)
          .map((date) => dateAt(Date.parse(date) - (weekday || 7) * DAY));
        const due = dueOverTheYear(seed, (now) => dueSummary(weekly, now)?.weekEnd);
        expect(due.filter((weekEnd) => weekEnd <= (weekEnds.at(-1) ?? ''))).toEqual(weekEnds);
      }),
      { numRuns: 1 },
    );
  });
});

describe('a reminder', () => {
  it.each([
    ['the day ends', 'Europe/Berlin', '2026-11-20', '16:30', '2026-11-20T23:00Z'],
    ['a long day ends', 'Europe/Berlin', '2026-10-25', '02:30', '2026-10-25T23:00Z'],
    ['a day ends that ends twice', 'Africa/Cairo', '2026-10-29', '16:30', '2026-10-29T22:00Z'],
    ['six hours are over, if it is late', 'Europe/Berlin', '2026-11-20', '23:55', '2026-11-21T04:55Z'],
    ['the day ends, if that is in six hours', 'UTC', '2026-11-20', '18:00', '2026-11-21T00:00Z'],
  ])('a reminder is due until %s', (_, timeZone, date, remindAt, until) => {
    const daily = team({ timeZone, remindAt, hours: EVERY_DAY });
    expect(dueReminder(daily, at(until) - 1)).toBe(date);
    expect(dueReminder(daily, at(until))).toBeUndefined();
  });

  it('a reminder on the evening before a holiday is still due after midnight, and one on a holiday never', () => {
    const late = team({ timeZone: 'UTC', remindAt: '23:50', hours: EVERY_DAY, holidays: ['2026-12-25'] });
    expect(dueReminder(late, at('2026-12-25T02:00Z'))).toBe('2026-12-24');
    expect(dueReminder(late, at('2026-12-25T23:55Z'))).toBeUndefined();
    expect(dueReminder(late, at('2026-12-26T02:00Z'))).toBeUndefined();
  });

  /** Local times that daylight saving skips or repeats. */
  const examples: [string, string, string][] = [
    ['Europe/Berlin', '2026-03-29', '02:15'],
    ['Europe/Berlin', '2026-10-25', '02:30'],
    ['Australia/Lord_Howe', '2026-10-04', '02:15'],
    ['Australia/Lord_Howe', '2026-04-05', '01:45'],
    ['Africa/Cairo', '2026-04-24', '00:00'],
    ['Africa/Cairo', '2026-10-29', '23:55'],
  ];
  it('a reminder is due when clocks first show its time, as Intl says for any zone', () => {
    const aroundChanges = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-04-24', '2026-09-06', '2026-10-25'];
    const date = fc.oneof(
      fc.constantFrom(...aroundChanges, '2026-10-04', '2026-10-29', '2026-11-01'),
      fc.integer({ min: at('2016-01-01') / DAY, max: at('2037-12-31') / DAY }).map((day) => dateAt(day * DAY)),
    );
    const time = fc
      .oneof(fc.integer({ min: 0, max: 239 }), fc.integer({ min: 0, max: 1439 }))
      .map((minute) => new Date(minute * MINUTE).toISOString().slice(11, 16));
    fc.assert(
      fc.property(fc.constantFrom(...Intl.supportedValuesOf('timeZone')), date, time, (timeZone, date, remindAt) => {
        const first = firstShown(timeZone, `${date} ${remindAt}`);
        const daily = { ...team({ remindAt, hours: EVERY_DAY }), timeZone };
        expect(dueReminder(daily, first)).toBe(date);
        expect(dueReminder(daily, first - 1)).not.toBe(date);
      }),
      { numRuns: 100, examples },
    );
  });
});

/** The first minute whose local date and time is not earlier than that, found by trying all. */
function firstShown(timeZone: string, dateAndTime: string): number {
  // Swedish writes dates and times like ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  let moment = at(`${dateAndTime.replace(' ', 'T')}Z`) - 15 * HOUR;
  while (format.format(moment) < dateAndTime) moment += MINUTE;
  return moment;
}

describe('a summary', () => {
  const weekly = (on: 'mon' | 'wed' | 'sun') =>
    team({ summary: { channel: 'C0123', on, at: '09:00' }, holidays: ['2026-11-16'] });

  it.each([
    ['on Monday is about the week that ended the day before', 'mon', '2026-11-16T08:00Z', '2026-11-09', '2026-11-15'],
    ['on Wednesday is about that week too', 'wed', '2026-11-18T08:00Z', '2026-11-09', '2026-11-15'],
    ['on Sunday is about the week before its own', 'sun', '2026-11-22T08:00Z', '2026-11-09', '2026-11-15'],
    ['may reach back into last year', 'mon', '2026-01-05T08:00Z', '2025-12-29', '2026-01-04'],
  ] as const)('%s', (_, on, first, weekStart, weekEnd) => {
    expect(dueSummary(weekly(on), at(first))).toEqual({ weekStart, weekEnd });
    expect(dueSummary(weekly(on), at(first) - 1)).toBeUndefined();
  });

  it('a summary is due until its day ends, and never if the team has none', () => {
    expect(dueSummary(weekly('mon'), at('2026-11-16T23:00Z') - 1)).toBeDefined();
    expect(dueSummary(weekly('mon'), at('2026-11-16T23:00Z'))).toBeUndefined();
    expect(dueSummary(team(), at('2026-11-16T09:00Z'))).toBeUndefined();
  });
});
