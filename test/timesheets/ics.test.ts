import { describe, expect, it } from 'vitest';
import { eventsIn } from '../../lib/ics.ts';

const wanted = { from: '2026-11-16', to: '2026-11-22', timeZone: 'Europe/Berlin', at: '16:30' };
const file = (...lines: string[]) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'BEGIN:VEVENT',
    'UID:1',
    'SUMMARY:Ada',
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');
const datesOf = (text: string) => eventsIn(text, wanted).flatMap(({ dates }) => dates);

const shift = (name: string, from: string, to: string, day: string) => [
  ...[`BEGIN:${name}`, 'DTSTART:16010101T020000', `TZOFFSETFROM:${from}`, `TZOFFSETTO:${to}`],
  ...[`RRULE:FREQ=YEARLY;${day}`, `END:${name}`],
];
const NEW_YORK = [
  ...['BEGIN:VTIMEZONE', 'TZID:Eastern Standard Time'],
  ...shift('STANDARD', '-0400', '-0500', 'BYDAY=1SU;BYMONTH=11'),
  ...shift('DAYLIGHT', '-0500', '-0400', 'BYDAY=2SU;BYMONTH=3'),
  'END:VTIMEZONE',
].join('\r\n');
const inNewYork = (text: string) => text.replace('BEGIN:VEVENT', `${NEW_YORK}\r\nBEGIN:VEVENT`);

describe('an iCalendar file', () => {
  it.each<[string, string, string[]]>([
    ['a day', file('DTSTART;VALUE=DATE:20261118'), ['2026-11-18']],
    ['days but the one it ends on', file('DTSTART;VALUE=DATE:20261118', 'DTEND;VALUE=DATE:20261119'), ['2026-11-18']],
    ['days that began before', file('DTSTART;VALUE=DATE:20261101', 'DTEND;VALUE=DATE:20261117'), ['2026-11-16']],
    ['days that are over', file('DTSTART;VALUE=DATE:20261101', 'DTEND;VALUE=DATE:20261116'), []],
    ['hours at the time', file('DTSTART:20261118T150000Z', 'DTEND:20261118T160000Z'), ['2026-11-18']],
    ['hours before the time', file('DTSTART:20261118T070000Z', 'DTEND:20261118T150000Z'), []],
    ['hours over night', file('DTSTART:20261117T120000Z', 'DTEND:20261118T160000Z'), ['2026-11-17', '2026-11-18']],
    ['local hours of no zone', file('DTSTART:20261118T160000', 'DTEND:20261118T170000'), ['2026-11-18']],
    [
      'hours of a zone by its name',
      file('DTSTART;TZID=America/New_York:20261118T100000', 'DTEND;TZID=America/New_York:20261118T110000'),
      ['2026-11-18'],
    ],
    [
      'hours of a zone that the file defines',
      inNewYork(
        file('DTSTART;TZID=Eastern Standard Time:20261118T100000', 'DTEND;TZID=Eastern Standard Time:20261118T110000'),
      ),
      ['2026-11-18'],
    ],
    ['each Friday for years', file('DTSTART;VALUE=DATE:20200103', 'RRULE:FREQ=WEEKLY'), ['2026-11-20']],
    ['what was cancelled', file('DTSTART;VALUE=DATE:20261118', 'STATUS:CANCELLED'), []],
    ['no dates', file('DTSTART;VALUE=DATE:20261118').replace(/BEGIN:VEVENT[\s\S]*END:VEVENT\r\n/, ''), []],
  ])('has %s', (_, text, dates) => {
    expect(datesOf(text)).toEqual(dates);
  });

  it('has the occurrence that was moved, in place of the one of the rule, and not for other events', () => {
    const weekly = ['DTSTART;VALUE=DATE:20200103', 'RRULE:FREQ=WEEKLY'];
    const another = (uid: number) => ['END:VEVENT', 'BEGIN:VEVENT', `UID:${uid}`];
    const moved = [...another(1), 'RECURRENCE-ID;VALUE=DATE:20261120', 'DTSTART;VALUE=DATE:20261117'];
    expect(datesOf(file(...weekly, ...moved, ...another(2), ...weekly))).toEqual(['2026-11-17', '2026-11-20']);
  });

  it('says who takes part', () => {
    const text = file(
      'DTSTART;VALUE=DATE:20261118',
      'ORGANIZER:mailto:hr@example.com',
      'ATTENDEE;PARTSTAT=ACCEPTED:MAILTO:Ada@example.com',
      'ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com',
    );
    expect(eventsIn(text, wanted)).toMatchObject([{ summary: 'Ada', addresses: ['ada@example.com'] }]);
  });

  it.each([
    ['no iCalendar file', '<html>Sign in</html>'],
    ['a rule that never ends', file('DTSTART:19700101T000000Z', 'DTEND:19700101T000001Z', 'RRULE:FREQ=SECONDLY')],
    ['a rule that never matches', file('DTSTART;VALUE=DATE:20200101', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30')],
    ['a date that is none', file('DTSTART;VALUE=DATE:2026')],
  ])('is bounded: %s', (_, text) => {
    expect(() => {
      const found = datesOf(text);
      if (found.length === 0) throw new Error('nothing');
    }).toThrow();
  });
});
