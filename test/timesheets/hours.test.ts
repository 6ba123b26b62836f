import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minutesOf } from '../../lib/timesheets/hours.ts';

const anyMinutes = fc.integer({ min: 0, max: 1440 });
const clock = (minutes: number) => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;

describe('minutes', () => {
  it.each<[string, (minutes: number) => unknown]>([
    ['a number', (minutes) => minutes / 60],
    ['two decimals', (minutes) => Number((minutes / 60).toFixed(2))],
    ['a decimal string', (minutes) => (minutes / 60).toFixed(2)],
    ['a decimal string with a comma', (minutes) => (minutes / 60).toFixed(4).replace('.', ',')],
    ['H:MM', clock],
    ['HH:MM:SS', (minutes) => `${clock(minutes).padStart(5, '0')}:00`],
  ])('whole minutes are read from hours written as %s', (_, write) => {
    fc.assert(
      fc.property(anyMinutes, (minutes) => {
        expect(minutesOf(write(minutes), 'hours')).toBe(minutes);
      }),
    );
  });

  it('minutes are read from numbers and from text', () => {
    fc.assert(
      fc.property(anyMinutes, (minutes) => {
        expect(minutesOf(minutes, 'minutes')).toBe(minutes);
        expect(minutesOf(`${minutes}.00`, 'minutes')).toBe(minutes);
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
    '',
    ' ',
    '-1',
    'NaN',
    '1e1',
    '0x10',
    '1.2.3',
    '1.',
  ];
  const noDurations = [...neither, '1,234.5', null, undefined, true, [], [1], {}, 1n, new Date(0)];
  it.each([
    ['hours', [...noDurations, 24.01, '24.01', '24:01', '1:60', '1:5', '1:00:60', '-1:00', ':30', '1:30:00:00', '90']],
    ['minutes', [...noDurations, 1441, '1441', '1:30']],
  ] as const)('are none where %s are no duration of a day', (unit, values) => {
    expect(values.filter((value) => minutesOf(value, unit) !== undefined)).toEqual([]);
  });

  it('any input gives whole minutes of at most a day, or none', () => {
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
