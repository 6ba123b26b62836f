import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { holidaysFromIcs } from '../../lib/config/holidays.ts';

const folder = mkdtempSync(join(tmpdir(), 'holidays-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RANGE = { from: new Date('2026-01-01T00:00Z'), years: 3 };

let files = 0;
function fileOf(text: string): string {
  const file = join(folder, `${files++}.ics`);
  writeFileSync(file, text);
  return file;
}

const calendar = (...lines: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Example//Holidays//EN', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20251101T120000Z', ...lines, 'END:VEVENT'];
const dates = (...lines: string[]) => holidaysFromIcs(fileOf(calendar(...lines)), RANGE);

const BERLIN = `BEGIN:VCALENDAR
PRODID:-//Google Inc//Google Calendar 70.9054//EN
VERSION:2.0
CALSCALE:GREGORIAN
METHOD:PUBLISH
X-WR-CALNAME:Feiertage Berlin
X-WR-TIMEZONE:Europe/Berlin
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:CEST
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
TZNAME:CET
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;VALUE=DATE:20100101
DTEND;VALUE=DATE:20100102
DTSTAMP:20251101T120000Z
UID:neujahr@example.com
RRULE:FREQ=YEARLY
SUMMARY:Neujahr
TRANSP:TRANSPARENT
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20260403
DTEND;VALUE=DATE:20260404
DTSTAMP:20251101T120000Z
UID:karfreitag-2026@example.com
SUMMARY:Karfreitag\\, den die Stadt Berlin als gesetzlichen Feiertag begeht und
 der auf einer zweiten Zeile weitergeht
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20251225
DTEND;VALUE=DATE:20251227
DTSTAMP:20251101T120000Z
UID:weihnachten@example.com
RRULE:FREQ=YEARLY
SUMMARY:Weihnachten
END:VEVENT
BEGIN:VEVENT
DTSTART;TZID=Europe/Berlin:20261218T150000
DTEND;TZID=Europe/Berlin:20261218T180000
DTSTAMP:20251101T120000Z
UID:feier@example.com
SUMMARY:Weihnachtsfeier
END:VEVENT
END:VCALENDAR
`;

describe('holidays from an iCalendar file', () => {
  it('the holidays are the all-day events in the range, in order', () => {
    expect(holidaysFromIcs(fileOf(BERLIN), RANGE)).toEqual([
      '2026-01-01',
      '2026-04-03',
      '2026-12-25',
      '2026-12-26',
      '2027-01-01',
      '2027-12-25',
      '2027-12-26',
      '2028-01-01',
      '2028-12-25',
      '2028-12-26',
    ]);
  });

  it.each([
    ['lasts one day without an end', ['DTSTART;VALUE=DATE:20260501'], ['2026-05-01']],
    [
      'ends before its DTEND',
      ['DTSTART;VALUE=DATE:20261230', 'DTEND;VALUE=DATE:20270102'],
      ['2026-12-30', '2026-12-31', '2027-01-01'],
    ],
    ['lasts a duration', ['DTSTART;VALUE=DATE:20260501', 'DURATION:P2D'], ['2026-05-01', '2026-05-02']],
    [
      'ends on the day on which it starts',
      ['DTSTART;VALUE=DATE:20260501', 'DTEND;VALUE=DATE:20260501'],
      ['2026-05-01'],
    ],
    ['began before the range', ['DTSTART;VALUE=DATE:20251230', 'DTEND;VALUE=DATE:20260102'], ['2026-01-01']],
    ['goes on after the range', ['DTSTART;VALUE=DATE:20281231', 'DTEND;VALUE=DATE:20290109'], ['2028-12-31']],
    [
      'recurs on a weekday of a month',
      ['DTSTART;VALUE=DATE:20201126', 'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH'],
      ['2026-11-26', '2027-11-25', '2028-11-23'],
    ],
    [
      'recurs until a date',
      ['DTSTART;VALUE=DATE:20250501', 'RRULE:FREQ=YEARLY;UNTIL=20270501'],
      ['2026-05-01', '2027-05-01'],
    ],
    ['recurs a number of times', ['DTSTART;VALUE=DATE:20250501', 'RRULE:FREQ=YEARLY;COUNT=2'], ['2026-05-01']],
    [
      'recurs but for a date',
      ['DTSTART;VALUE=DATE:20250501', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20270501'],
      ['2026-05-01', '2028-05-01'],
    ],
    [
      'recurs on dates that are listed',
      ['DTSTART;VALUE=DATE:20260406', 'RDATE;VALUE=DATE:20270329,20280417'],
      ['2026-04-06', '2027-03-29', '2028-04-17'],
    ],
    ['has the status of another', ['DTSTART;VALUE=DATE:20260501', 'STATUS:CONFIRMED'], ['2026-05-01']],
  ])('the holidays include an event that %s', (_, lines, expected) => {
    expect(dates(...event(...lines))).toEqual(expected);
  });

  it.each([
    ['is cancelled', ['DTSTART;VALUE=DATE:20260502', 'RRULE:FREQ=YEARLY', 'STATUS:CANCELLED']],
    ['has a time of day', ['DTSTART:20260502T000000Z', 'DTEND:20260503T000000Z']],
    ['has a time of day in a zone', ['DTSTART;TZID=Europe/Berlin:20260502T090000', 'RRULE:FREQ=DAILY']],
    ['is over', ['DTSTART;VALUE=DATE:20250502', 'RRULE:FREQ=YEARLY;UNTIL=20251231']],
    ['is to come', ['DTSTART;VALUE=DATE:20290101']],
    ['has no start', ['SUMMARY:Some day']],
  ])('the holidays exclude an event that %s', (_, lines) => {
    expect(dates(...event('DTSTART;VALUE=DATE:20260501'), ...event(...lines))).toEqual(['2026-05-01']);
  });

  it('a moved, canceled or timed occurrence changes only its own event', () => {
    const yearly = event('DTSTART;VALUE=DATE:20250501', 'RRULE:FREQ=YEARLY');
    const moved = event('RECURRENCE-ID;VALUE=DATE:20260501', 'DTSTART;VALUE=DATE:20260504');
    const cancelled = event('RECURRENCE-ID;VALUE=DATE:20270501', 'DTSTART;VALUE=DATE:20270501', 'STATUS:CANCELLED');
    const timed = event('RECURRENCE-ID;VALUE=DATE:20280501', 'DTSTART:20280501T090000Z');
    const another = yearly.with(1, 'UID:2').with(3, 'DTSTART;VALUE=DATE:20250502');
    const ofAnother = event('RECURRENCE-ID;VALUE=DATE:20280502', 'DTSTART;VALUE=DATE:20281231').with(1, 'UID:2');
    expect(dates(...yearly, ...moved, ...cancelled, ...timed, ...another, ...ofAnother)).toEqual([
      '2026-05-02',
      '2026-05-04',
      '2027-05-02',
      '2028-12-31',
    ]);
  });

  it('each holiday appears once, whatever the order of events and number of calendars', () => {
    const may = calendar(...event('DTSTART;VALUE=DATE:20260501'));
    const march = calendar(...event('DTSTART;VALUE=DATE:20260308'), ...event('DTSTART;VALUE=DATE:20260501'));
    expect(holidaysFromIcs(fileOf(may + march), RANGE)).toEqual(['2026-03-08', '2026-05-01']);
  });

  it.each([
    ['by a path relative to the working directory', (file: string) => relative(process.cwd(), file)],
    ['by a URL', (file: string) => pathToFileURL(file)],
  ])('holidays are found %s', (_, named) => {
    const file = fileOf(`\uFEFF${calendar(...event('DTSTART;VALUE=DATE:20260501'))}`);
    expect(holidaysFromIcs(named(file), RANGE)).toEqual(['2026-05-01']);
  });

  it('a calendar without an end gives last year and the next four years by default', () => {
    const year = new Date().getUTCFullYear();
    expect(holidaysFromIcs(fileOf(calendar(...event('DTSTART;VALUE=DATE:20100101', 'RRULE:FREQ=YEARLY'))))).toEqual(
      [-1, 0, 1, 2, 3].map((years) => `${year + years}-01-01`),
    );
  });

  it.each([
    ['is a web page', '<!DOCTYPE html>\n<html><body>Sign in</body></html>', /cannot be read as an iCalendar file: /],
    ['is empty', '', /cannot be read as an iCalendar file: no VCALENDAR/],
    ['is of contacts', 'BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ada\r\nEND:VCARD\r\n', /: no VCALENDAR/],
    [
      'is cut off',
      calendar(...event('DTSTART;VALUE=DATE:20260501')).slice(0, -20),
      /cannot be read as an iCalendar file: /,
    ],
    [
      'has a date that is none',
      calendar(...event('DTSTART:20260501')),
      /cannot be read as an iCalendar file: .*2026-05-01/,
    ],
    [
      'ended before the range',
      calendar(...event('DTSTART;VALUE=DATE:20240501')),
      /has no all-day event from 2026-01-01 on and before 2029-01-01/,
    ],
  ])('a calendar file is refused by name if it %s', (_, text, message) => {
    const file = fileOf(text);
    expect(() => holidaysFromIcs(file, RANGE)).toThrow(message);
    expect(() => holidaysFromIcs(file, RANGE)).toThrow(file);
  });

  it('a missing calendar file is refused with its full path', () => {
    const missing = relative(process.cwd(), join(folder, 'missing.ics'));
    expect(() => holidaysFromIcs(missing, RANGE)).toThrow(`${missing} cannot be read as an iCalendar file: ENOENT`);
    expect(() => holidaysFromIcs(missing, RANGE)).toThrow(`open '${join(folder, 'missing.ics')}'`);
  });
});
