import { describe, expect, it } from 'vitest';
import { eventsIn } from '../../lib/ics.ts';

const wanted = { from: '2026-11-16', to: '2026-11-22', timeZone: 'Europe/Berlin', at: '16:30' };
const BEGIN = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'BEGIN:VEVENT', 'UID:1', 'SUMMARY:Ada'];
const file = (...lines: string[]) => [...BEGIN, ...lines, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n');
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

const WEEK = [16, 17, 18, 19, 20, 21, 22].map((day) => `2026-11-${day}`);
const [MON, TUE, WED, THU, FRI, SAT, SUN] = WEEK;
const NOT_WED = WEEK.filter((date) => date !== WED);

/** Lines of an event. Days up to 31 are in November 2026. */
const dateOf = (day: number) => (day > 31 ? day : 2026_11_00 + day);
const on = (day: number) => `DTSTART;VALUE=DATE:${dateOf(day)}`;
const until = (day: number) => `DTEND;VALUE=DATE:${dateOf(day)}`;
const moves = (day: number) => `RECURRENCE-ID;VALUE=DATE:${dateOf(day)}`;
const timeOf = (time: string, zone?: string) => `${zone ? `;TZID=${zone}` : ''}:202611${time}`;
const at = (time: string, zone?: string) => `DTSTART${timeOf(time, zone)}`;
const to = (time: string, zone?: string) => `DTEND${timeOf(time, zone)}`;
const ALL_DAY = 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE';

describe('an iCalendar file', () => {
  it.each<[string, string, unknown[]]>([
    ['a day', file(on(18)), [WED]],
    ['days but the one it ends on', file(on(18), until(19)), [WED]],
    ['days that began before', file(on(1), until(17)), [MON]],
    ['days that are over', file(on(1), until(16)), []],
    ['hours at the time', file(at('18T150000Z'), to('18T160000Z')), [WED]],
    ['hours before the time', file(at('18T070000Z'), to('18T150000Z')), []],
    ['hours over night', file(at('17T120000Z'), to('18T160000Z')), [TUE, WED]],
    ['local hours of no zone', file(at('18T160000'), to('18T170000')), [WED]],
    [
      'hours of a zone by its name',
      file(at('18T100000', 'America/New_York'), to('18T110000', 'America/New_York')),
      [WED],
    ],
    [
      'hours of a zone that the file defines',
      inNewYork(file(at('18T100000', 'Eastern Standard Time'), to('18T110000', 'Eastern Standard Time'))),
      [WED],
    ],
    ['each Friday for years', file(on(2020_01_03), 'RRULE:FREQ=WEEKLY'), [FRI]],
    ['what was cancelled', file(on(18), 'STATUS:CANCELLED'), []],
    ['no dates', file(on(18)).replace(/BEGIN:VEVENT[\s\S]*END:VEVENT\r\n/, ''), []],
  ])('has %s', (_, text, dates) => {
    expect(datesOf(text)).toEqual(dates);
  });

  const weekly = [on(2026_01_02), 'RRULE:FREQ=WEEKLY'];
  const anHour = [at('02T160000', 'Europe/Berlin'), 'DURATION:PT1H'];
  const inBerlin = [...anHour, 'RRULE:FREQ=DAILY'];
  const midnight = 'TZID=W. Europe Standard Time';
  /** Another event with the same UID. */
  const change = (...lines: string[]) => ['END:VEVENT', 'BEGIN:VEVENT', 'UID:1', 'SUMMARY:Ada', ...lines];

  it.each<[string, string[], unknown[]]>([
    ['a day without an end that differs', [on(18), until(18)], [WED]],
    ['a day with an end before it', [on(18), until(10)], [WED]],
    ['days by their number', [on(18), 'DURATION:P2D'], [WED, THU]],
    ['a bare date', ['DTSTART:20261118', 'DTEND:20261119'], [WED]],
    ['a date with a time that it says to be none', ['DTSTART;VALUE=DATE:20261118T000000'], [WED]],
    ['a whole day with times', [at('17T230000Z'), to('18T230000Z'), ALL_DAY], [WED]],
    ['a whole day of a distant zone', [at('18T000000', 'Asia/Tokyo'), to('19T000000', 'Asia/Tokyo'), ALL_DAY], [WED]],
    ['hours with an end before them', [at('18T150000Z'), to('18T140000Z')], []],
    ['hours from one zone to another', [at('18T160000', 'Europe/Berlin'), to('18T210100', 'Asia/Kolkata')], [WED]],
    [
      'added hours with ends of their own',
      [...anHour, 'RDATE;VALUE=PERIOD:20261118T150000Z/PT1H,20261119T120000Z/20261119T160000Z'],
      [WED, THU],
    ],
    ['an added date', [...anHour, 'RDATE;VALUE=DATE:20261118'], [WED]],
    ['an added day', [on(1), 'RDATE;VALUE=DATE:20261118', 'RDATE:20261119T230000Z'], [WED, FRI]],
    ['hours until a time in UTC', [...anHour, 'RRULE:FREQ=DAILY;UNTIL=20261117T150000Z'], [MON, TUE]],
    [
      'hours until a time in UTC that is before the last',
      [...anHour, 'RRULE:FREQ=DAILY;UNTIL=20261117T145959Z'],
      [MON],
    ],
    ['hours until a local time', [...anHour, 'RRULE:FREQ=DAILY;UNTIL=20261117T160000'], [MON, TUE]],
    ['hours until a date', [...anHour, 'RRULE:FREQ=DAILY;UNTIL=20261117'], [MON, TUE]],
    ['days until a midnight in UTC', [on(1), 'RRULE:FREQ=DAILY;UNTIL=20261116T230000Z'], [MON, TUE]],
    ['days until a date as if it were UTC', [on(1), 'RRULE:FREQ=DAILY;UNTIL=20261117T000000Z'], [MON, TUE]],
    ['hours without one in UTC', [...inBerlin, 'EXDATE:20261118T150000Z,20261120T150000Z'], [MON, TUE, THU, SAT, SUN]],
    ['hours without one in another zone', [...inBerlin, 'EXDATE;TZID=Asia/Kolkata:20261118T203000'], NOT_WED],
    ['hours without those of a date', [...inBerlin, 'EXDATE;VALUE=DATE:20261118'], NOT_WED],
    ['days without one with a time', [...weekly, `EXDATE;${midnight}:20261120T000000`], []],
    ['days without one by its midnight in UTC', [...weekly, 'EXDATE:20261119T230000Z'], []],
    ['days without those of another rule', [...weekly, 'EXRULE:FREQ=WEEKLY;INTERVAL=2'], []],
    ['a moved day', [...weekly, ...change(moves(20), on(17))], [TUE]],
    ['a moved day with a time', [...weekly, ...change(`RECURRENCE-ID;${midnight}:20261120T000000`, on(17))], [TUE]],
    ['a moved day that repeats the rule', [...weekly, ...change(moves(6), on(5), 'RRULE:FREQ=WEEKLY')], [FRI]],
    [
      'moved hours in UTC',
      [...inBerlin, ...change('RECURRENCE-ID:20261118T150000Z', at('18T160000Z'), 'DURATION:PT1H')],
      NOT_WED,
    ],
    ['a deleted day', [...weekly, ...change(moves(20), 'STATUS:CANCELLED')], []],
    [
      'days that are moved from one on',
      [
        on(2026_01_02),
        'RRULE:FREQ=WEEKLY',
        ...change('RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261106', on(4), 'DURATION:P2D'),
      ],
      [WED, THU],
    ],
    [
      'hours that are moved in another zone from one on',
      [
        ...[at('01T160000', 'Australia/Lord_Howe'), 'DURATION:PT19H', 'RRULE:FREQ=DAILY'],
        ...change('RECURRENCE-ID;RANGE=THISANDFUTURE:20261118T050000Z', at('18T050000Z'), 'DURATION:PT9H'),
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
      [...weekly, ...change(moves(20), 'SEQUENCE:10', on(17)), ...change(moves(20), 'SEQUENCE:9', on(18))],
      [TUE],
    ],
    [
      'the newest of two changes, by stamps',
      [
        ...weekly,
        ...change(moves(20), 'DTSTAMP:20260202T000000Z', on(17)),
        ...change(moves(20), 'DTSTAMP:20260101T000000Z', on(18)),
      ],
      [TUE],
    ],
    ['the newest of two events', [on(18), 'SEQUENCE:1', ...change(on(19), 'SEQUENCE:2')], [THU]],
    ['a series that was deleted', [...weekly, ...change('SEQUENCE:1', 'STATUS:CANCELLED', ...weekly)], []],
    ['days by number, of a series since years', [on(2021_01_04), 'RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=613'], [MON]],
    ['weekdays by number, of a series since years', [on(2021_01_04), 'RRULE:FREQ=DAILY;BYDAY=MO,WE;COUNT=613'], [MON]],
    ['each third month since years', [on(2015_02_18), 'RRULE:FREQ=MONTHLY;INTERVAL=3'], [WED]],
    [
      'the last days of months, since years',
      [on(2015_01_30), 'DURATION:P3W', 'RRULE:FREQ=MONTHLY'],
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

  const day = [on(18)];
  const another = (...lines: string[]) => ['END:VEVENT', 'BEGIN:VEVENT', 'UID:2', ...lines];
  it.each<[string, string, string]>([
    [
      'an invalid date',
      file(...another('DTSTART;VALUE=DATE:2026'), ...another(...day)),
      'event 2: a DTSTART is not a date or time',
    ],
    ['an invalid day', file(...another(on(2026_02_30)), ...another(...day)), 'event 2: a DTSTART is no'],
    ['no date', file(...another('SUMMARY:a'), ...another(...day)), 'event 2: it has no DTSTART'],
    [
      'an unknown zone',
      file(at('18T160000', 'Mars/Utopia\u001b[2J'), 'DURATION:PT1H'),
      'the zone "Mars/Utopia??2J" is not known',
    ],
    ['a zone without an end', file(at('18T160000', '"Europe/Berlin'), 'DURATION:PT1H'), ''],
    [
      'a zone that is broken',
      inNewYork(file(at('18T100000', 'Eastern Standard Time'), 'DURATION:PT1H')).replaceAll(
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
  ])('is read without its broken parts, which are named: %s', (_, text, said) => {
    const leftOut: string[] = [];
    const found = eventsIn(text, wanted, (what) => leftOut.push(what));
    expect(found.flatMap(({ dates }) => dates)).toEqual([WED]);
    expect(leftOut.join('; ')).toMatch(said === '' ? /^$/ : new RegExp(said.replace(/[?[(]/g, '\\$&')));
  });

  it('uses no event of another UID as an occurrence, and none without a UID', () => {
    const moved = [moves(20), on(17)];
    const text = file(...weekly, ...change(...moved), ...another(...weekly), ...change(...day)).replaceAll(
      'UID:1',
      'UID:',
    );
    expect(datesOf(text).sort()).toEqual([TUE, WED, FRI, FRI]);
  });

  it('says who takes part', () => {
    const text = file(
      on(18),
      'ORGANIZER:mailto:hr@example.com',
      'ATTENDEE;PARTSTAT=ACCEPTED:MAILTO:Ada@example.com',
      'ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com',
    );
    expect(eventsIn(text, wanted)).toMatchObject([{ summary: 'Ada', addresses: ['ada@example.com'] }]);
  });

  it('is refused if it is no calendar', () => {
    expect(() => datesOf('<html>Sign in</html>')).toThrow('it is not an iCalendar file');
  });
});
