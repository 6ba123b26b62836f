import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minutesOf, readEntry } from '../../lib/timesheets/time-entry.ts';

const record = { timelog_id: 7, user_id: 12, date: '2026-11-20', hours: '1.50', note: 'dentist' };

describe('a time entry', () => {
  it('a time entry has its person, day, minutes and task', () => {
    expect(readEntry({ ...record, task_id: 4711, task_name: ' Checkout page ' })).toEqual({
      userId: '12',
      date: '2026-11-20',
      minutes: 90,
      taskId: '4711',
      taskName: 'Checkout page',
    });
  });

  it.each([
    ['no task', {}],
    ['an empty one', { task_id: null, task_name: '' }],
    ['one in another shape', { task_id: { id: 1 }, task_name: 7n }],
  ])('a time entry may have %s', (_, change) => {
    expect(readEntry({ ...record, ...change })).toEqual({ userId: '12', date: '2026-11-20', minutes: 90 });
  });

  it.each([
    ['a date', '2026-11-20'],
    ['a date and time as in docs/partner-api.md#project', '2026-11-20 23:59:59'],
    ['ISO 8601', '2026-11-20T00:00:00.000000Z'],
    ['ISO 8601 with an offset, taken for the day that it names', '2026-11-20T23:30:00-08:00'],
  ])('a time entry is for the day of its %s', (_, date) => {
    expect(readEntry({ ...record, date })).toMatchObject({ date: '2026-11-20' });
  });

  it.each([
    ['minutes', { hours: undefined, minutes: 90 }],
    ['minutes where hours are null', { hours: null, minutes: '90' }],
    ['both, if they agree', { hours: 1.5, minutes: 90 }],
    ['hours where minutes are null', { minutes: null }],
  ])('a time entry may give %s', (_, change) => {
    expect(readEntry({ ...record, ...change })).toMatchObject({ minutes: 90 });
  });

  it.each([
    [{ hours: 1.3, minutes: 80 }, 80],
    [{ hours: '1.30', minutes: '75' }, 75],
    [{ hours: 1, minutes: 62 }, 62],
    [{ hours: '1:20', minutes: 80 }, 80],
    [{ hours: 0, minutes: 0 }, 0],
  ])('minutes count if the hours are those minutes rounded: %o', (both, minutes) => {
    expect(readEntry({ ...record, ...both })).toMatchObject({ minutes });
  });

  it.each([
    ['no person', { user_id: null }, /^user_id: /],
    ['an empty person', { user_id: ' ' }, /^user_id: /],
    ['a person in another shape', { user_id: { id: 1 } }, /^user_id: /],
    ['no date', { date: undefined }, /^date: /],
    ['a date that does not exist', { date: '2026-02-30' }, /^date: /],
    ['a date of zeros', { date: '0000-00-00' }, /^date: /],
    ['a date written otherwise', { date: '20.11.2026' }, /^date: /],
    ['a date with something behind it', { date: '2026-11-20 dentist' }, /^date: /],
    ['seconds since 1970', { date: 1_795_132_800 }, /^date: /],
    ['neither hours nor minutes', { hours: undefined }, /^hours: /],
    ['empty hours', { hours: '' }, /^hours: /],
    ['empty hours, although there are minutes', { hours: '', minutes: 90 }, /^hours: /],
    ['hours past a day', { hours: 25 }, /^hours: /],
    ['negative minutes', { hours: undefined, minutes: -5 }, /^minutes: /],
    ['minutes in words, although there are hours', { minutes: 'ninety' }, /^minutes: /],
    ['hours and minutes that differ', { hours: 1, minutes: 30 }, /^minutes: /],
    ['hours and minutes that differ by more than rounding', { hours: 1.3, minutes: 82 }, /^minutes: /],
    ['hours and minutes that may be two parts', { hours: 1, minutes: 58 }, /^minutes: /],
  ])('a time entry with %s is unreadable, for a reason that names the field', (_, change, reason) => {
    expect(readEntry({ ...record, ...change })).toMatchObject({ unreadable: expect.stringMatching(reason) });
  });

  it('a time entry is never quoted in the reason', () => {
    const secret = 'dentist 4711';
    const field = fc.constantFrom('user_id', 'date', 'hours', 'minutes', 'note', 'task_name');
    fc.assert(
      fc.property(fc.uniqueArray(field, { minLength: 1 }), (fields) => {
        const read = readEntry({ ...record, ...Object.fromEntries(fields.map((name) => [name, secret])) });
        expect('unreadable' in read ? read.unreadable : '').not.toContain(secret);
      }),
    );
  });
});

const anyMinutes = fc.integer({ min: 0, max: 1440 });
const clock = (minutes: number) => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;

describe('minutes', () => {
  it.each<[string, (minutes: number) => unknown, ('hours' | 'minutes')?]>([
    ['hours, as a number', (minutes) => minutes / 60],
    ['hours with two decimals', (minutes) => Number((minutes / 60).toFixed(2))],
    ['hours as a decimal string', (minutes) => (minutes / 60).toFixed(2)],
    ['hours as a decimal string with a comma', (minutes) => (minutes / 60).toFixed(4).replace('.', ',')],
    ['H:MM', clock],
    ['HH:MM:SS', (minutes) => `${clock(minutes).padStart(5, '0')}:00`],
    ['minutes, as a number', (minutes) => minutes, 'minutes'],
    ['minutes as text', (minutes) => `${minutes}.00`, 'minutes'],
  ])('come back unchanged from %s', (_, write, unit = 'hours') => {
    fc.assert(
      fc.property(anyMinutes, (minutes) => {
        expect(minutesOf(write(minutes), unit)).toBe(minutes);
      }),
    );
  });

  it.each([
    [' 1.5 ', 'hours', 90],
    ['0', 'hours', 0],
    ['1:30:29', 'hours', 90],
    ['1:30:31', 'hours', 91],
    [24, 'hours', 1440],
    ['90', 'minutes', 90],
    [89.6, 'minutes', 90],
  ] as const)('of %j in %s are %i', (value, unit, minutes) => {
    expect(minutesOf(value, unit)).toBe(minutes);
  });

  const neither = [
    -1,
    -0.001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    ...['', ' ', '-1', 'NaN', '1e1', '0x10', '1.2.3', '1.'],
  ];
  const noDurations = [...neither, '1,234.5', null, undefined, true, [], [1], {}, 1n, new Date(0)];
  it.each([
    ['hours', [...noDurations, 24.01, '24.01', '24:01', '1:60', '1:5', '1:00:60', '-1:00', ':30', '1:30:00:00', '90']],
    ['minutes', [...noDurations, 1441, '1441', '1:30']],
  ] as const)('are missing if %s are no duration of a day', (unit, values) => {
    expect(values.filter((value) => minutesOf(value, unit) !== undefined)).toEqual([]);
  });

  it('of any value are whole and no more than a day, or missing', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.double(), fc.string()),
        fc.constantFrom('hours', 'minutes'),
        (value, unit) => {
          const minutes = minutesOf(value, unit);
          if (minutes === undefined) return;
          expect(Number.isInteger(minutes)).toBe(true);
          expect(minutes).toBeGreaterThanOrEqual(0);
          expect(minutes).toBeLessThanOrEqual(1440);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
