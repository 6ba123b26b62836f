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

  const weekly = ['DTSTART;VALUE=DATE:20260102', 'RRULE:FREQ=WEEKLY'];
  const inBerlin = ['DTSTART;TZID=Europe/Berlin:20261102T160000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY'];
  const midnight = 'TZID=W. Europe Standard Time';
  /** Another event of the same UID. */
  const change = (...lines: string[]) => ['END:VEVENT', 'BEGIN:VEVENT', 'UID:1', 'SUMMARY:Ada', ...lines];
  const [TUE, WED, THU, FRI] = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'];
  const [MON, SAT, SUN] = ['2026-11-16', '2026-11-21', '2026-11-22'];

  it.each<[string, string[], (string | undefined)[]]>([
    ['a day without an end that differs', ['DTSTART;VALUE=DATE:20261118', 'DTEND;VALUE=DATE:20261118'], [WED]],
    ['a day with an end before it', ['DTSTART;VALUE=DATE:20261118', 'DTEND;VALUE=DATE:20261110'], [WED]],
    ['days by their number', ['DTSTART;VALUE=DATE:20261118', 'DURATION:P2D'], [WED, THU]],
    ['a bare date', ['DTSTART:20261118', 'DTEND:20261119'], [WED]],
    ['a date with a time that it says to be none', ['DTSTART;VALUE=DATE:20261118T000000'], [WED]],
    [
      'a whole day with times',
      ['DTSTART:20261117T230000Z', 'DTEND:20261118T230000Z', 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE'],
      [WED],
    ],
    [
      'a whole day of a distant zone',
      [
        'DTSTART;TZID=Asia/Tokyo:20261118T000000',
        'DTEND;TZID=Asia/Tokyo:20261119T000000',
        'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE',
      ],
      [WED],
    ],
    ['hours with an end before them', ['DTSTART:20261118T150000Z', 'DTEND:20261118T140000Z'], []],
    [
      'hours from one zone to another',
      ['DTSTART;TZID=Europe/Berlin:20261118T160000', 'DTEND;TZID=Asia/Kolkata:20261118T210100'],
      [WED],
    ],
    [
      'added hours with ends of their own',
      [...inBerlin.slice(0, 2), 'RDATE;VALUE=PERIOD:20261118T150000Z/PT1H,20261119T120000Z/20261119T160000Z'],
      [WED, THU],
    ],
    ['an added date', [...inBerlin.slice(0, 2), 'RDATE;VALUE=DATE:20261118'], [WED]],
    [
      'an added day',
      ['DTSTART;VALUE=DATE:20261101', 'RDATE;VALUE=DATE:20261118', 'RDATE:20261119T230000Z'],
      [WED, FRI],
    ],
    ['hours until a time in UTC', [...inBerlin.slice(0, 2), 'RRULE:FREQ=DAILY;UNTIL=20261117T150000Z'], [MON, TUE]],
    [
      'hours until a time in UTC that is before the last',
      [...inBerlin.slice(0, 2), 'RRULE:FREQ=DAILY;UNTIL=20261117T145959Z'],
      [MON],
    ],
    ['hours until a local time', [...inBerlin.slice(0, 2), 'RRULE:FREQ=DAILY;UNTIL=20261117T160000'], [MON, TUE]],
    ['hours until a date', [...inBerlin.slice(0, 2), 'RRULE:FREQ=DAILY;UNTIL=20261117'], [MON, TUE]],
    [
      'days until a midnight in UTC',
      ['DTSTART;VALUE=DATE:20261101', 'RRULE:FREQ=DAILY;UNTIL=20261116T230000Z'],
      [MON, TUE],
    ],
    [
      'days until a date as if it were UTC',
      ['DTSTART;VALUE=DATE:20261101', 'RRULE:FREQ=DAILY;UNTIL=20261117T000000Z'],
      [MON, TUE],
    ],
    ['hours without one in UTC', [...inBerlin, 'EXDATE:20261118T150000Z,20261120T150000Z'], [MON, TUE, THU, SAT, SUN]],
    [
      'hours without one in another zone',
      [...inBerlin, 'EXDATE;TZID=Asia/Kolkata:20261118T203000'],
      [MON, TUE, THU, FRI, SAT, SUN],
    ],
    ['hours without those of a date', [...inBerlin, 'EXDATE;VALUE=DATE:20261118'], [MON, TUE, THU, FRI, SAT, SUN]],
    ['days without one with a time', [...weekly, `EXDATE;${midnight}:20261120T000000`], []],
    ['days without one by its midnight in UTC', [...weekly, 'EXDATE:20261119T230000Z'], []],
    ['days without those of another rule', [...weekly, 'EXRULE:FREQ=WEEKLY;INTERVAL=2'], []],
    ['a moved day', [...weekly, ...change('RECURRENCE-ID;VALUE=DATE:20261120', 'DTSTART;VALUE=DATE:20261117')], [TUE]],
    [
      'a moved day with a time',
      [...weekly, ...change(`RECURRENCE-ID;${midnight}:20261120T000000`, 'DTSTART;VALUE=DATE:20261117')],
      [TUE],
    ],
    [
      'a moved day that repeats the rule',
      [...weekly, ...change('RECURRENCE-ID;VALUE=DATE:20261106', 'DTSTART;VALUE=DATE:20261105', 'RRULE:FREQ=WEEKLY')],
      [FRI],
    ],
    [
      'moved hours in UTC',
      [...inBerlin, ...change('RECURRENCE-ID:20261118T150000Z', 'DTSTART:20261118T160000Z', 'DURATION:PT1H')],
      [MON, TUE, THU, FRI, SAT, SUN],
    ],
    ['a deleted day', [...weekly, ...change('RECURRENCE-ID;VALUE=DATE:20261120', 'STATUS:CANCELLED')], []],
    [
      'days that are moved from one on',
      [
        'DTSTART;VALUE=DATE:20260102',
        'RRULE:FREQ=WEEKLY',
        ...change(
          'RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261106',
          'DTSTART;VALUE=DATE:20261104',
          'DURATION:P2D',
        ),
      ],
      [WED, THU],
    ],
    [
      'hours that are moved in another zone from one on',
      [
        ...['DTSTART;TZID=Australia/Lord_Howe:20261101T160000', 'DURATION:PT19H', 'RRULE:FREQ=DAILY'],
        ...change('RECURRENCE-ID;RANGE=THISANDFUTURE:20261118T050000Z', 'DTSTART:20261118T050000Z', 'DURATION:PT9H'),
      ],
      [MON, TUE],
    ],
    [
      'days that are deleted from one on',
      [...weekly, ...change('RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261106', 'STATUS:CANCELLED')],
      [],
    ],
    [
      'the newest of two changes, by numbers',
      [
        ...weekly,
        ...change('RECURRENCE-ID;VALUE=DATE:20261120', 'SEQUENCE:10', 'DTSTART;VALUE=DATE:20261117'),
        ...change('RECURRENCE-ID;VALUE=DATE:20261120', 'SEQUENCE:9', 'DTSTART;VALUE=DATE:20261118'),
      ],
      [TUE],
    ],
    [
      'the newest of two changes, by stamps',
      [
        ...weekly,
        ...change('RECURRENCE-ID;VALUE=DATE:20261120', 'DTSTAMP:20260202T000000Z', 'DTSTART;VALUE=DATE:20261117'),
        ...change('RECURRENCE-ID;VALUE=DATE:20261120', 'DTSTAMP:20260101T000000Z', 'DTSTART;VALUE=DATE:20261118'),
      ],
      [TUE],
    ],
    [
      'the newest of two events',
      ['DTSTART;VALUE=DATE:20261118', 'SEQUENCE:1', ...change('DTSTART;VALUE=DATE:20261119', 'SEQUENCE:2')],
      [THU],
    ],
    ['a series that was deleted', [...weekly, ...change('SEQUENCE:1', 'STATUS:CANCELLED', ...weekly)], []],
    [
      'days by number, of a series since years',
      ['DTSTART;VALUE=DATE:20210104', 'RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=613'],
      [MON],
    ],
    [
      'weekdays by number, of a series since years',
      ['DTSTART;VALUE=DATE:20210104', 'RRULE:FREQ=DAILY;BYDAY=MO,WE;COUNT=613'],
      [MON],
    ],
    ['each third month since years', ['DTSTART;VALUE=DATE:20150218', 'RRULE:FREQ=MONTHLY;INTERVAL=3'], [WED]],
    [
      'the last days of months, since years',
      ['DTSTART;VALUE=DATE:20150130', 'DURATION:P3W', 'RRULE:FREQ=MONTHLY'],
      [MON, TUE, WED, THU],
    ],
    ['each second year, in small letters', ['dtstart;value=date:20101117', 'rrule:freq=yearly;interval=2'], [TUE]],
  ])('has %s', (_, lines, dates) => {
    const leftOut: string[] = [];
    const found = eventsIn(file(...lines), wanted, (what) => leftOut.push(what)).flatMap(({ dates }) => dates);
    expect([found.sort(), leftOut]).toEqual([dates, []]);
  });

  it.each([
    ['Asia/Kolkata', '210000'],
    ['Europe/Kyiv', '173000'],
    ['US/Eastern', '103000'],
    ['Etc/UTC', '153000'],
    ['/freeassociation.sourceforge.net/Europe/Helsinki', '173000'],
    ['/mozilla.org/20050126_1/America/Argentina/Buenos_Aires', '123000'],
    ['"India Standard Time"', '210000'],
    ['Pacific Standard Time', '073000'],
    ['Customized Time Zone', '183000'],
    ['(UTC+01:00) Amsterdam, Berlin', '183000'],
  ])('knows the zone %s', (name, time) => {
    const defined = ['BEGIN:VTIMEZONE', `TZID:${name}`, ...shift('STANDARD', '+0300', '+0300', ''), 'END:VTIMEZONE'];
    const text = file(`DTSTART;TZID=${name}:20261118T${time}`, 'DURATION:PT1M');
    const isItsOwn = /^[C(]/.test(name);
    const found = isItsOwn
      ? text.replace('BEGIN:VEVENT', [...defined, 'BEGIN:VEVENT'].join('\r\n').replace('RRULE:FREQ=YEARLY;\r\n', ''))
      : text;
    const leftOut: string[] = [];
    expect(eventsIn(found, wanted, (what) => leftOut.push(what))).toMatchObject([{ dates: [WED] }]);
    expect(leftOut).toEqual([]);
  });

  const day = ['DTSTART;VALUE=DATE:20261118'];
  const another = (...lines: string[]) => ['END:VEVENT', 'BEGIN:VEVENT', 'UID:2', ...lines];
  it.each<[string, string, string]>([
    [
      'an invalid date',
      file(...another('DTSTART;VALUE=DATE:2026'), ...another(...day)),
      'event 2: a DTSTART is not a date or time',
    ],
    ['an invalid day', file(...another('DTSTART;VALUE=DATE:20260230'), ...another(...day)), 'event 2: a DTSTART is no'],
    ['no date', file(...another('SUMMARY:a'), ...another(...day)), 'event 2: it has no DTSTART'],
    [
      'an unknown zone',
      file('DTSTART;TZID=Mars/Utopia\u001b[2J:20261118T160000', 'DURATION:PT1H'),
      'the zone "Mars/Utopia??2J" is not known',
    ],
    ['a zone without an end', file('DTSTART;TZID="Europe/Berlin:20261118T160000', 'DURATION:PT1H'), ''],
    [
      'a zone that is broken',
      inNewYork(file('DTSTART;TZID=Eastern Standard Time:20261118T100000', 'DURATION:PT1H')).replaceAll(
        'TZOFFSETTO:',
        'TZOFFSETTO',
      ),
      '',
    ],
    ['an invalid rule', file(...day, 'RRULE:FREQ=SOMETIMES'), 'event 1: its RRULE cannot be read'],
    ['no number of times', file(...day, 'RRULE:FREQ=DAILY;COUNT=0'), 'event 1: its RRULE cannot be read'],
    ['an invalid end', file(...day, 'RRULE:FREQ=WEEKLY;UNTIL=soon'), 'event 1: its RRULE cannot be read'],
    ['an invalid duration', file(...day, 'DURATION:-P1D'), 'event 1: its DURATION cannot be read'],
    [
      'one invalid exception',
      file(...day, 'RRULE:FREQ=YEARLY', 'EXDATE:soon,20251118'),
      'event 1: a EXDATE is not a date',
    ],
    ['a line that is not folded', file('DESCRIPTION:a', 'and b', ...day), 'event 1: a line that is not a property'],
    ['an alarm without an end', file(...day, 'BEGIN:VALARM', 'DTSTART:2026', 'DURATION:PT1H'), ''],
    ['an end of nothing', file('END:VALARM', ...day), ''],
    ['no end', file(...day).replace('END:VCALENDAR', ''), 'the end of the file is missing'],
    ['two calendars', `${file('DTSTART:20200101T000000Z')}\r\n${file(...day)}`, ''],
    [
      'a rule that never ends',
      file('DTSTART:19700101T000000Z', 'DURATION:PT1S', 'RRULE:FREQ=SECONDLY', ...another(...day)),
      'event 1: it',
    ],
    ['line feeds and a byte order mark', `\ufeff${file('DTSTART;VALUE=DA', ' TE:20261118').replaceAll('\r', '')}`, ''],
  ])('is read without what is broken, which is named: %s', (_, text, said) => {
    const leftOut: string[] = [];
    const found = eventsIn(text, wanted, (what) => leftOut.push(what));
    expect(found.flatMap(({ dates }) => dates)).toEqual([WED]);
    expect(leftOut.join('; ')).toMatch(said === '' ? /^$/ : new RegExp(said.replace(/[?[(]/g, '\\$&')));
  });

  it('puts no event of another UID in place of an occurrence, and none without a UID', () => {
    const moved = ['RECURRENCE-ID;VALUE=DATE:20261120', 'DTSTART;VALUE=DATE:20261117'];
    const text = file(...weekly, ...change(...moved), ...another(...weekly), ...change(...day)).replaceAll(
      'UID:1',
      'UID:',
    );
    expect(datesOf(text).sort()).toEqual([TUE, WED, FRI, FRI]);
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

  it('is an error if it is none', () => {
    expect(() => datesOf('<html>Sign in</html>')).toThrow('it is not an iCalendar file');
  });
});
