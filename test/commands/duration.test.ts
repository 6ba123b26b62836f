import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDuration, printDuration } from '../../lib/commands/duration.ts';

const DAY_MINUTES = 1_440;
const minutesOfADay = fc.integer({ min: 1, max: DAY_MINUTES });

/** Any UTF-16, with unpaired surrogates. */
const codeUnits = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units));

describe('a duration', () => {
  it.each([
    ['1hr30min', 90],
    ['1h30', 90],
    ['2HOURS', 120],
    ['45 Min', 45],
    ['1 minute', 1],
    ['.5h', 30],
    ['0,25 hours', 15],
    ['01:05', 65],
    ['0:01', 1],
    ['24:00', DAY_MINUTES],
    ['0h1m', 1],
    ['  1h\u00a030m\n', 90],
  ])('the duration %o is %i minutes', (text, minutes) => {
    expect(parseDuration(text)).toEqual({ minutes });
  });

  it.each([
    ...['0', '0h', '0:00', '0.001h'].map((text) => [text, `“${text}” is too short. The minimum is 1m.`]),
    ...['25h', '24h1m', '1441 min', '24.01h', '23h99m'].map((text) => [
      text,
      `“${text}” is too long. The maximum is 24h a day.`,
    ]),
    ['1h99m', '“1h99m” has too many minutes. Did you mean 99m or 2h39m?'],
    ['1h 60m', '“1h 60m” has too many minutes. Did you mean 60m or 2h?'],
    ['1:60', '“1:60” has too many minutes. Did you mean 60m or 2h?'],
    ['1.34h', '“1.34h” is not a whole number of minutes. Use 1h20m or 1h21m.'],
    ['1.34', '“1.34” is not a whole number of minutes. Use 1h20m or 1h21m.'],
    ['0.01h', '“0.01h” is not a whole number of minutes. Use 1m.'],
    ['23.999h', '“23.999h” is not a whole number of minutes. Use 23h59m or 24h.'],
    ['24.001h', '“24.001h” is not a whole number of minutes. Use 24h.'],
    ['1.5m', '“1.5m” has a fraction of a minute. Use whole minutes, such as 90m.'],
    ['1,000m', '“1,000m” has a fraction of a minute. Use whole minutes, such as 90m.'],
    ['1.5h30m', '“1.5h30m” mixes decimal hours and minutes. Use 1h30m or 1.5h.'],
    ['5000', '“5000” has no unit. Use 1h30m, 1.5h or 90m.'],
    ['-25h', '“25h” is too long. The maximum is 24h a day.'],
  ])('%o is refused', (text, fault) => {
    expect(parseDuration(text)).toEqual({ fault });
  });

  it.each(['', 'soon', '1:5', '1h5', '1h1h', '30m1h', '1d', '1..5h', '1h30m2', '1 30', '--1h', '1:30:00'])(
    'the text %o is not a duration',
    (text) => {
      expect(parseDuration(text)).toEqual({ fault: `“${text}” is not a duration such as 1h30m, 1.5h, 90m or 1:30.` });
    },
  );

  it.each([
    ['1.5', '“1.5” has no unit. Use 1.5h or 90m.', '1h30m'],
    ['1,5', '“1,5” has no unit. Use 1.5h or 90m.', '1h30m'],
    ['90', '“90” has no unit. Use 90m or 1h30m.', '1h30m'],
    ['2', '“2” has no unit. Use 2h or 2m.', ['2h', '2m']],
    ['30', '“30” has no unit. Use 30m.', '30m'],
    ['-1h', '“-1h” is negative. Did you mean 1h?', '1h'],
    ['−1.5h', '“-1.5h” is negative. Did you mean 1h30m?', '1h30m'],
    ['– 90m', '“- 90m” is negative. Did you mean 1h30m?', '1h30m'],
  ])('the duration %o is refused with a suggestion', (text, fault, suggestion) => {
    expect(parseDuration(text)).toEqual({ fault, suggestions: [suggestion].flat() });
  });

  it('a printed duration is parsed as the same duration', () => {
    fc.assert(
      fc.property(minutesOfADay, (minutes) => {
        expect(parseDuration(printDuration(minutes))).toEqual({ minutes });
      }),
    );
  });

  it.each([
    [0, '0m'],
    [45, '45m'],
    [120, '2h'],
    [90, '1h30m'],
    [38 * 60 + 5, '38h5m'],
  ])('a duration of %i minutes is printed as %s', (minutes, text) => {
    expect(printDuration(minutes)).toBe(text);
  });

  it('a duration has the same value in hours and minutes, minutes, with a colon and in decimal hours', () => {
    fc.assert(
      fc.property(minutesOfADay, fc.integer({ min: 2, max: 9 }), (minutes, decimals) => {
        const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
        const twoDigits = String(rest).padStart(2, '0');
        const decimal = (minutes / 60).toFixed(decimals);
        const spellings = [
          `${hours}h${rest}m`,
          `${hours} hours ${rest} minutes`,
          `${minutes}min`,
          `${hours}:${twoDigits}`,
        ];
        for (const text of [...spellings, `${hours}h${twoDigits}`, `${decimal}h`, `${decimal.replace('.', ',')} hrs`]) {
          expect([text, parseDuration(text)]).toEqual([text, { minutes }]);
        }
      }),
    );
  });

  it('hundredths of an hour are accepted only if a minute is written like that', () => {
    const shown = new Map(
      Array.from({ length: DAY_MINUTES }, (_, index) => [((index + 1) / 60).toFixed(2), index + 1]),
    );
    for (let hundredths = 1; hundredths <= 2_400; hundredths++) {
      const hours = (hundredths / 100).toFixed(2);
      const minutes = shown.get(hours);
      const expected = minutes === undefined ? { fault: expect.stringContaining('not a whole number') } : { minutes };
      expect([hours, parseDuration(`${hours}h`)]).toEqual([hours, expected]);
    }
  });

  it('any input gives whole minutes of a day or a short error', () => {
    const pieces = fc.constantFrom(...'0 1 9 24 59 60 . , : h m hours min - –'.split(' '), ' ');
    const typed = fc.oneof(
      fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
      fc.string({ unit: 'grapheme' }),
      codeUnits,
    );
    fc.assert(
      fc.property(typed, (text) => {
        const read = parseDuration(text);
        if ('minutes' in read) {
          expect(Number.isInteger(read.minutes)).toBe(true);
          expect(read.minutes).toBeGreaterThanOrEqual(1);
          expect(read.minutes).toBeLessThanOrEqual(DAY_MINUTES);
          return;
        }
        expect(read.fault.length).toBeLessThan(200);
        for (const suggestion of read.suggestions ?? []) expect(parseDuration(suggestion)).toHaveProperty('minutes');
      }),
      { numRuns: 300 },
    );
  });
});
