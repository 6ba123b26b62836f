import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import type { Rename } from '../../sandbox/routes.ts';
import type { TestRelay } from '../relay.ts';
import { ask } from '../slack-requests.ts';
import { EVERY_DAY } from '../timesheets/team.ts';
import {
  CART,
  CHECKOUT,
  calls,
  DUE,
  FRIDAY,
  HOUR,
  join,
  log,
  logWeek,
  lucas,
  MINUTE,
  MONDAY,
  mira,
  mrkdwnOf,
  outcomes,
  type Person,
  remind,
  reminded,
  reminderOf,
  reminders,
  startFriday,
  THURSDAY,
  TUESDAY,
  timesheets,
  tomasz,
  WEDNESDAY,
} from './timesheet-team.ts';

let relay: TestRelay;
const start = async (...options: Parameters<typeof startFriday>) => {
  relay = await startFriday(...options);
};
afterEach(() => relay.close());

const WEEK = [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY];

/** This number of people, and nobody else. */
function people(count: number): Person[] {
  relay.sandbox.data.users.length = 0;
  return Array.from({ length: count }, (_, number) => join(relay, `Person ${number}`));
}

describe('the time entries of 500 people', () => {
  it.each([
    ['on a Friday', FRIDAY, WEEK, 50],
    ['on a Monday', MONDAY, [MONDAY], 10],
  ])(
    'entries of people who log twice a day are read with the promised number of calls: %s',
    async (_, date, dates, pages) => {
      await start(timesheets({ people: 'all', hours: EVERY_DAY }));
      relay.clock.now = Date.parse(`${date}T15:30Z`);
      const everybody = people(500);
      const [late, ...others] = everybody as [Person, ...Person[]];
      for (const day of ['2026-11-13', ...dates, '2026-11-21']) {
        for (const person of day === date ? others : everybody) {
          for (const task of [CHECKOUT.id, CART.id]) log(relay, person, 4, { date: day, task });
        }
      }
      log(relay, late, 1, { date, task: CHECKOUT.id });
      log(relay, late, 1, { date, task: CHECKOUT.id });
      await remind(relay);
      expect(reminded(relay)).toEqual([late.name]);
      const names = dates.length > 1 ? 2 : 1;
      expect(calls(relay)).toEqual({ '/users/list': 5, '/timelogs/list': pages + 1, '/tasks/detail': names });
      expect(relay.sandbox.requests).toBe(5 + pages + 1 + names);
      expect(new Set((await relay.jobs()).map(({ lane }) => lane))).toEqual(new Set(['background']));
    },
  );
});

describe('pages', () => {
  it('pages of people and entries are combined for each person', async () => {
    await start(timesheets({ people: 'all', remindOf: 'day' }));
    const everybody = people(230);
    const rounds = (number: number) => (number % 40 === 7 ? [2 + (number % 3), 2] : [2, 2, 2.5]);
    for (const round of [0, 1, 2]) {
      for (const [number, person] of everybody.entries()) {
        const hours = rounds(number)[round];
        // Each round is on other pages.
        if (hours !== undefined) log(relay, person, hours);
      }
    }
    await remind(relay);
    const logged = [...reminders(relay)].map(([name, [message]]) => [
      name,
      / (\w+) logged of 6h30m/.exec(mrkdwnOf(message ?? {}))?.[1],
    ]);
    const short = [...everybody.entries()].filter(([number]) => number % 40 === 7);
    expect(logged).toEqual(short.map(([number, { name }]) => [name, `${4 + (number % 3)}h`]));
    expect(calls(relay)).toMatchObject({ '/users/list': 3, '/timelogs/list': 7 + short.length });
  });

  it.each([
    [120, 2],
    [200, 3],
  ])('lists without pagination are read until a page is not full: %i people', async (count, expected) => {
    await start(timesheets({ people: 'all', remindOf: 'day' }), { sandbox: { paginatesAll: false } });
    const everybody = people(count);
    for (const person of everybody.slice(0, -1)) log(relay, person, 8);
    await remind(relay);
    expect(reminded(relay)).toEqual([everybody.at(-1)?.name]);
    expect(calls(relay)).toMatchObject({ '/users/list': expected });
  });

  it('no person is reminded twice if pages shift while they are read', async () => {
    await start(timesheets({ people: 'all' }));
    people(101);
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/users/list', skip: 1, times: 1 });
    await relay.fire('due-schedules');
    await relay.work();
    join(relay, 'New');
    relay.sandbox.data.users.unshift(...relay.sandbox.data.users.splice(-1));
    for (const { user_id } of relay.sandbox.data.users) logWeek(relay, { ...mira, userId: user_id });
    await relay.workToTheEnd();
    expect(await outcomes(relay, 'team-timesheets')).toEqual(['0 of 101 have time missing for 2026-11-20']);
  });

  it("pages are read in the background, so a person's command does not wait", async () => {
    const connections = { main: { limits: { perMinute: 6 } } };
    await start(timesheets({ people: 'all' }, { connections }), { sandbox: { rateLimit: { perMinute: 6 } } });
    for (const person of people(120)) for (const date of WEEK) log(relay, person, 8, { date });
    await relay.fire('due-schedules');
    await relay.work();
    expect(await relay.jobs('waiting')).toHaveLength(1);
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('101');
    expect(await relay.jobs('waiting')).toHaveLength(1);
    await relay.workToTheEnd();
    expect(calls(relay)).toMatchObject({ '/users/list': 2, '/timelogs/list': 6 });
    expect(relay.sandbox.audit.filter(({ status }) => status === 429)).toEqual([]);
  });

  it('no entry counts twice if pages shift while they are read', async () => {
    await start(timesheets({ people: [mira.email, tomasz.email], remindOf: 'day' }));
    for (let entry = 0; entry < 99; entry++) log(relay, lucas, 0.1);
    log(relay, mira, 4);
    log(relay, tomasz, 6.5);
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/timelogs/list', skip: 1, times: 1 });
    await relay.fire('due-schedules');
    await relay.work();
    log(relay, lucas, 1);
    relay.sandbox.data.timelogs.unshift(...relay.sandbox.data.timelogs.splice(-1));
    await relay.workToTheEnd();
    expect(reminderOf(relay, mira)).toContain('4h logged of 6h30m, 2h30m missing');
    expect(reminded(relay)).toEqual([mira.name]);
  });
});

describe('entries that are deleted while pages are read', () => {
  const betweenPages = async (meanwhile: () => void) => {
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/timelogs/list', skip: 1, times: 1 });
    await relay.fire('due-schedules');
    await relay.work();
    meanwhile();
    await relay.workToTheEnd();
  };
  /** The hundredth and first entry moves to the page that was read already. */
  const logMuch = () => {
    for (let entry = 0; entry < 100; entry++) log(relay, lucas, 0.01);
    logWeek(relay, mira);
  };

  it('no person with a complete week is reminded, because short people are read again', async () => {
    await start(timesheets({ people: [mira.email, tomasz.email] }));
    logMuch();
    logWeek(relay, tomasz);
    relay.sandbox.data.timelogs.splice(-1);
    await betweenPages(() => relay.sandbox.data.timelogs.splice(0, 2));
    expect(reminded(relay)).toEqual([tomasz.name]);
    expect(calls(relay)['/timelogs/list']).toBe(2 + 2);
  });

  it('the summary does not call a person short because of a deleted entry', async () => {
    const summary = { channel: 'C0PLATFORM', on: 'mon' as const };
    await start(timesheets({ people: [mira.email], summary }));
    relay.clock.now = Date.parse('2026-11-23T09:00+01:00');
    logMuch();
    await betweenPages(() => relay.sandbox.data.timelogs.splice(0, 2));
    expect(relay.slack.messages.map(({ text }) => text)).toEqual([expect.stringMatching(/^1 of 1 timesheets/)]);
  });

  it('a person is read again from one page only, because a service may ignore user_id', async () => {
    await start(timesheets({ people: [mira.email, tomasz.email], remindOf: 'day' }));
    for (let entry = 0; entry < 101; entry++) log(relay, mira, 0.01);
    await remind(relay);
    expect(reminded(relay)).toEqual([mira.name, tomasz.name]);
    expect(calls(relay)['/timelogs/list']).toBe(2 + 1);
  });
});

describe('an outage of the service while pages are read', () => {
  const half: Fault[] = [{ kind: 'cut', when: 'on arrival' }, { kind: 'key-revoked' }, { kind: 'rate-limited' }];

  it.each(half)('the job waits for the end of the outage and continues where it stopped: %o', async (fault) => {
    await start(timesheets({ people: 'all', remindOf: 'day' }));
    const everybody = people(120);
    for (const person of everybody.slice(1)) for (const hours of [4, 2.5]) log(relay, person, hours);
    // Two pages of users, and the first of three of entries.
    relay.sandbox.setFault({ ...fault, skip: 3 });
    await relay.fire('due-schedules');
    for (const end = relay.clock.now + 6 * MINUTE; relay.clock.now < end; relay.clock.now += 2 * MINUTE) {
      await relay.work();
      await relay.sweep();
    }
    expect(calls(relay)).toMatchObject({ '/users/list': 2, '/timelogs/list': 1 });
    expect(await relay.jobs()).toHaveLength(1);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(reminded(relay)).toEqual(['Person 0']);
    expect(calls(relay)).toMatchObject({ '/users/list': 2, '/timelogs/list': 4 });
  });
});

describe('a service that differs from what is assumed', () => {
  it('entries of other days are left out if the service ignores the dates', async () => {
    const fields = { date_from: 'since', date_to: 'until' };
    await start(timesheets({ people: [mira.email, tomasz.email] }), {
      sandbox: { rename: { '/timelogs/list': { fields } } },
    });
    logWeek(relay, tomasz);
    for (const date of ['2026-11-13', '2026-11-15', '2026-11-21', '2026-11-23']) log(relay, mira, 8, { date });
    log(relay, mira, 'all day', { date: '2019-12-24' });
    await remind(relay);
    expect(reminded(relay)).toEqual([mira.name]);
    expect(reminderOf(relay, mira)).toContain('*This week so far*: nothing logged of 38h30m');
    // Nor are their tasks offered, whose names would have been asked for.
    expect(calls(relay)).toEqual({ '/users/list': 1, '/timelogs/list': 1 });
  });

  it.each<[string, string, () => void, number, string]>([
    [
      'users',
      '/users/list',
      () => fill(relay.sandbox.data.users, 1_001),
      50,
      'users/list could not be read to its end: check the field names of page and the filters, and set an override in relay.config.ts, or paged: false if the list comes whole in one answer',
    ],
    [
      'time entries',
      '/timelogs/list',
      () => {
        log(relay, lucas, 1);
        fill(relay.sandbox.data.timelogs, 4_001);
      },
      200,
      'timelogs/list from 2026-11-16 to 2026-11-20 could not be read to its end: check the field names of page and the filters, and set an override in relay.config.ts, or paged: false if the list comes whole in one answer',
    ],
  ])(
    'a list with more %s than can be read parks the job with the reason',
    async (_, operation, many, pages, reason) => {
      const rename = { [operation]: { fields: { per_page: 'size' } } };
      await start(timesheets({ people: [mira.email] }), { sandbox: { rename } });
      many();
      await remind(relay);
      expect(await outcomes(relay, 'team-timesheets')).toEqual([`parked: ${reason}`]);
      expect(calls(relay)).toMatchObject({ [operation]: pages });
      expect(reminded(relay)).toEqual([]);
    },
  );

  /** The same row as often. */
  function fill<Row>(rows: Row[], count: number): void {
    const [row] = rows;
    if (row === undefined) throw new Error('there is no row');
    rows.push(...Array.from({ length: count - rows.length }, () => row));
  }

  it.each([
    [
      '/users/list',
      'email',
      'users/list returned no user with an email: check the field name, and set an override in relay.config.ts',
    ],
    [
      '/timelogs/list',
      'user_id',
      'timelogs/list returned entries without user_id: check the field name, and set an override in relay.config.ts',
    ],
    [
      '/timelogs/list',
      'page',
      'timelogs/list from 2026-11-16 to 2026-11-20 could not be read to its end: check the field names of page and the filters, and set an override in relay.config.ts, or paged: false if the list comes whole in one answer',
    ],
  ])('a missing indispensable field parks the job with the reason: %s, %s', async (operation, field, reason) => {
    await start(timesheets(), { sandbox: { rename: { [operation]: { fields: { [field]: 'other' } } } } });
    for (let entry = 0; entry < 101; entry++) log(relay, lucas, 0.01);
    logWeek(relay, mira);
    await remind(relay);
    expect(await outcomes(relay, 'team-timesheets')).toEqual([`parked: ${reason}`]);
    expect(reminded(relay)).toEqual([]);
  });

  it('nobody is left out by a list of users that is cut off without a word', async () => {
    const rename = { '/users/list': { fields: { page: 'other', per_page: 'size' } } };
    await start(timesheets({ people: 'all' }), { sandbox: { rename, paginatesAll: false } });
    people(60);
    await remind(relay);
    expect(await outcomes(relay, 'team-timesheets')).toEqual([
      expect.stringContaining('parked: users/list could not be read to its end'),
    ]);
  });

  it('entries without an id are all counted', async () => {
    const rename = { '/timelogs/list': { fields: { timelog_id: 'other' } } };
    await start(timesheets({ people: [mira.email] }), { sandbox: { rename } });
    logWeek(relay, mira);
    await remind(relay);
    expect(await outcomes(relay, 'team-timesheets')).toEqual(['0 of 1 have time missing for 2026-11-20']);
  });

  it('the service may use numbers as user ids', async () => {
    await start(timesheets({ people: 'all' }));
    const number = 17 as unknown as string;
    relay.sandbox.data.users.splice(0, 9, { user_id: number, name: mira.name, email: mira.email });
    relay.slack.fail({ method: 'chat.postMessage', kind: 'rate-limited', retryAfterSeconds: 600 });
    await relay.fire('due-schedules');
    await relay.work();
    logWeek(relay, { ...mira, userId: number });
    await relay.workToTheEnd();
    expect(await outcomes(relay, 'timesheet-reminder')).toEqual(['nothing to do: the timesheet is complete now']);
  });

  it('the service may use other field names if relay.config.ts maps them', async () => {
    const rename: Rename = {
      '/users/list': {
        path: '/people/all',
        fields: { user_id: 'id', name: 'full_name', email: 'mail', per_page: 'size' },
      },
      '/timelogs/list': {
        fields: {
          timelog_id: 'id',
          user_id: 'person',
          date: 'day',
          hours: 'spent',
          task_id: 'work_item',
          date_from: 'first_day',
          date_to: 'last_day',
          per_page: 'size',
        },
      },
    };
    const operations = {
      'users/list': { path: 'people/all', fields: rename['/users/list']?.fields },
      'timelogs/list': { fields: rename['/timelogs/list']?.fields },
    };
    await start(timesheets({ people: 'all', remindOf: 'day' }, { connections: { main: { operations } } }), {
      sandbox: { rename },
    });
    const [, late] = people(120);
    for (const { user_id } of relay.sandbox.data.users) {
      const person = { userId: user_id, name: '', email: '' };
      if (user_id !== late?.userId) log(relay, person, 4);
      for (const date of ['2026-11-15', FRIDAY, '2026-11-21']) log(relay, person, 2.5, { date });
    }
    await remind(relay);
    expect(reminded(relay)).toEqual([late?.name]);
    expect(reminderOf(relay, late as Person)).toContain('*Friday 20 November*: 2h30m logged of 6h30m, 4h missing');
    expect(calls(relay)).toEqual({ '/people/all': 2, '/timelogs/list': 4, '/tasks/detail': 1 });
  });

  it('the service may return hours in several formats, or minutes', async () => {
    await start(timesheets({ people: 'all', hours: EVERY_DAY, remindOf: 'day' }));
    const given: [Record<string, unknown>, string][] = [
      [{ hours: '7,5' }, '7h30m'],
      [{ hours: '7:30' }, '7h30m'],
      [{ hours: 0 }, 'nothing'],
      [{ minutes: '450', hours: null }, '7h30m'],
    ];
    const everybody = people(given.length);
    for (const [index, [{ hours, ...fields }]] of given.entries())
      log(relay, everybody[index] as Person, hours, fields);
    await remind(relay);
    expect(everybody.map((person) => reminderOf(relay, person))).toEqual(
      given.map(([, logged]) => expect.stringContaining(`: ${logged} logged of 8h`)),
    );
  });
});

describe('the name of a task', () => {
  it('a refused task name is requested again after an hour, and kept for a month once known', async () => {
    await start(timesheets({ people: [mira.email], remindOf: 'day' }));
    log(relay, mira, 1, { task: 'gone', date: MONDAY });
    const asked: [number, number | undefined][] = [];
    for (const hours of [0, 24 * 3, 24 * 4]) {
      relay.clock.now = DUE + hours * HOUR;
      if (hours === 24 * 4) relay.sandbox.data.tasks.push({ ...task(), task_id: 'gone', name: 'Back', title: 'Back' });
      await remind(relay);
      asked.push([hours, detailCalls()]);
    }
    expect(asked.map(([, count]) => count)).toEqual([1, 2, 3]);
    relay.clock.now = DUE + 24 * 5 * HOUR;
    await remind(relay);
    expect(detailCalls()).toBe(3);
  });

  it('a refused task name is requested once for a team', async () => {
    await start(timesheets({ people: [mira.email, tomasz.email], remindOf: 'day' }));
    for (const person of [mira, tomasz]) log(relay, person, 1, { task: 'gone' });
    await remind(relay);
    expect(detailCalls()).toBe(1);
  });

  const detailCalls = () => relay.sandbox.audit.filter(({ endpoint }) => endpoint === '/tasks/detail').length;
  const task = () => relay.sandbox.data.tasks[0] as (typeof relay.sandbox.data.tasks)[number];
});

describe('a person with an unreadable entry', () => {
  const hours = 'hours: expected hours such as 1.5, "1,50" or "1:30", no more than 24';
  const date = 'date: expected a date such as 2026-11-20';

  it('a person with an unreadable entry is not reminded, and the job says why without quoting it', async () => {
    await start(timesheets({ people: 'all' }));
    const [known, ...others] = people(6) as [Person, ...Person[]];
    const unreadable = [
      { hours: 'all day' },
      { hours: -1 },
      { hours: null },
      { date: '2026-11-19 noon' },
      { minutes: 30 },
    ];
    for (const [index, fields] of unreadable.entries()) {
      const person = others[index] as Person;
      log(relay, person, 1);
      log(relay, person, 2, fields);
    }
    log(relay, known, 1);
    await remind(relay);
    expect(reminded(relay)).toEqual([known.name]);
    const differ = 'minutes: expected the same duration as in hours';
    expect(await outcomes(relay, 'team-timesheets')).toEqual([
      `1 of 6 have time missing for 2026-11-20; of 5 entries cannot be read: ${hours}, ${date}, ${differ}`,
    ]);
  });

  it('a person whose entry becomes unreadable after the first reading is not reminded', async () => {
    await start(timesheets({ people: [mira.email] }));
    relay.slack.fail({ method: 'chat.postMessage', kind: 'rate-limited', retryAfterSeconds: 600 });
    await relay.fire('due-schedules');
    await relay.work();
    log(relay, mira, 'all day');
    await relay.workToTheEnd();
    expect(reminded(relay)).toEqual([]);
    expect(await outcomes(relay, 'timesheet-reminder')).toEqual([`entries cannot be read: ${hours}`]);
  });
});
