import { describe, expect, it } from 'vitest';
import type { Rename } from '../../sandbox/routes.ts';
import { EVERY_DAY } from '../timesheets/team.ts';
import { DUE, type Person, people, startFriday, type TeamRelay, tasks, timesheets, WEEK } from './timesheet-team.ts';

const { lucas, mira, tomasz } = people;
const { CHECKOUT, CART } = tasks;
const [MONDAY, , , , FRIDAY] = WEEK;

let relay: TeamRelay;

/** This many new people, in place of the others. */
function crowd(count: number): Person[] {
  relay.sandbox.data.users.length = 0;
  return Array.from({ length: count }, (_, number) => relay.join(`Person ${number}`));
}

/** Runs something between the first page of a list and the second. */
function betweenPages(operation: string, meanwhile: () => void): Promise<void> {
  relay.sandbox.setFault({ kind: 'rate-limited', operation, skip: 1, times: 1 });
  return remindWith(meanwhile);
}

/** Runs something between the reading of the team and the message, which Slack's rate limit delays by ten minutes. */
function beforeMessage(meanwhile: () => void): Promise<void> {
  relay.slack.fail({ method: 'chat.postMessage', kind: 'rate-limited', retryAfterSeconds: 600 });
  return remindWith(meanwhile);
}

async function remindWith(meanwhile: () => void): Promise<void> {
  await relay.fire('due-schedules');
  await relay.work();
  meanwhile();
  await relay.workToTheEnd();
}

it.each([
  ['on a Friday', FRIDAY, WEEK, 50],
  ['on a Monday', MONDAY, [MONDAY], 10],
])('500 people who log twice a day are read with the promised number of calls: %s', async (_, date, dates, pages) => {
  relay = await startFriday(timesheets({ people: 'all', hours: EVERY_DAY }));
  relay.clock.now = Date.parse(`${date}T15:30Z`);
  const everybody = crowd(500);
  const [late, ...others] = everybody as [Person, ...Person[]];
  for (const day of ['2026-11-13', ...dates, '2026-11-21']) {
    // A person's second entry is on another page than the first.
    for (const task of [CHECKOUT.id, CART.id]) {
      for (const person of day === date ? others : everybody) relay.logs(person, 4, { date: day, task });
    }
  }
  for (let entry = 0; entry < 2; entry++) relay.logs(late, 1, { date, task: CHECKOUT.id });
  await relay.remind();
  expect(relay.reminded()).toEqual([late.name]);
  const names = dates.length > 1 ? 2 : 1;
  expect(relay.calls()).toEqual({ '/users/list': 5, '/timelogs/list': pages + 1, '/tasks/detail': names });
  expect(relay.sandbox.requests).toBe(5 + pages + 1 + names);
  expect(new Set((await relay.jobs()).map(({ lane }) => lane))).toEqual(new Set(['background']));
});

it('no entry counts twice if pages shift while they are read', async () => {
  relay = await startFriday(timesheets({ people: [mira.email, tomasz.email], remindOf: 'day' }));
  for (let entry = 0; entry < 99; entry++) relay.logs(lucas, 0.1);
  relay.logs(mira, 4);
  relay.logs(tomasz, 6.5);
  await betweenPages('/timelogs/list', () => {
    relay.logs(lucas, 1);
    relay.sandbox.data.timelogs.unshift(...relay.sandbox.data.timelogs.splice(-1));
  });
  expect(relay.reminderTo(mira)).toContain('4h of 6h30m, 2h30m missing');
  expect(relay.reminded()).toEqual([mira.name]);
});

describe('entries that are deleted while pages are read', () => {
  /** The 101st entry moves to a page that was already read. */
  const logMuch = () => {
    for (let entry = 0; entry < 100; entry++) relay.logs(lucas, 0.01);
    relay.logsWeek(mira);
  };
  const deleted = () => betweenPages('/timelogs/list', () => relay.sandbox.data.timelogs.splice(0, 2));

  it('cause no reminder for a complete week, because people with missing time are read again', async () => {
    relay = await startFriday(timesheets({ people: [mira.email, tomasz.email] }));
    logMuch();
    relay.logsWeek(tomasz);
    relay.sandbox.data.timelogs.splice(-1);
    await deleted();
    expect(relay.reminded()).toEqual([tomasz.name]);
    expect(relay.calls()['/timelogs/list']).toBe(2 + 2);
  });

  it('do not make the summary call a person short', async () => {
    relay = await startFriday(timesheets({ people: [mira.email], summary: { channel: 'C0PLATFORM', on: 'mon' } }));
    relay.clock.now = Date.parse('2026-11-23T09:00+01:00');
    logMuch();
    await deleted();
    expect(relay.slack.messages.map(({ text }) => text)).toEqual([expect.stringMatching(/: 1 of 1 timesheets/)]);
  });

  it('a person is read again from only one page, because a service may ignore user_id', async () => {
    relay = await startFriday(timesheets({ people: [mira.email, tomasz.email], remindOf: 'day' }));
    for (let entry = 0; entry < 101; entry++) relay.logs(mira, 0.01);
    await relay.remind();
    expect(relay.reminded()).toEqual([mira.name, tomasz.name]);
    expect(relay.calls()['/timelogs/list']).toBe(2 + 1);
  });
});

describe('a service that differs from the assumptions', () => {
  const renamed = (operation: string, ...fields: string[]): Rename => {
    return { [operation]: { fields: Object.fromEntries(fields.map((field) => [field, `other_${field}`])) } };
  };

  it('entries of other days are left out if the service ignores the dates', async () => {
    const rename = renamed('/timelogs/list', 'date_from', 'date_to');
    relay = await startFriday(timesheets({ people: [mira.email, tomasz.email] }), { sandbox: { rename } });
    relay.logsWeek(tomasz);
    for (const date of ['2026-11-13', '2026-11-15', '2026-11-21', '2026-11-23']) relay.logs(mira, 8, { date });
    relay.logs(mira, 'all day', { date: '2019-12-24' });
    await relay.remind();
    expect(relay.reminded()).toEqual([mira.name]);
    expect(relay.reminderTo(mira)).toContain('*The week up to that day*: 0h of 38h30m');
    // The relay offers none of their tasks, and does not ask for the tasks' names.
    expect(relay.calls()).toEqual({ '/users/list': 1, '/timelogs/list': 1 });
  });

  const USERS = '/users/list';
  const ENTRIES = '/timelogs/list';
  const unread = (list: string) =>
    `${list} could not be read to its end: check the field names of page and the filters, and set an override in relay.config.ts, or paged: false if the list comes whole in one answer`;
  const nameless = 'check the field name, and set an override in relay.config.ts';
  const unreadEntries = unread('timelogs/list from 2026-11-16 to 2026-11-20');
  /** Repeats a row of a list. */
  function fill(list: 'users' | 'timelogs', count: number): void {
    const rows: object[] = relay.sandbox.data[list];
    const [row = expect.fail('there is no row')] = rows;
    rows.push(...Array.from({ length: count - rows.length }, () => row));
  }
  it.each<[string, Rename, string, (() => void)?, number?]>([
    ['no addresses', renamed(USERS, 'email'), `users/list returned no user with an email: ${nameless}`],
    ['no people', renamed(ENTRIES, 'user_id'), `timelogs/list returned entries without user_id: ${nameless}`],
    ['no pages of entries', renamed(ENTRIES, 'page'), unreadEntries],
    ['a list of users that is cut', renamed(USERS, 'page', 'per_page'), unread('users/list'), () => crowd(60)],
    ['more users than can be read', renamed(USERS, 'per_page'), unread('users/list'), () => fill('users', 1_001), 50],
    ['more entries than can be read', renamed(ENTRIES, 'per_page'), unreadEntries, () => fill('timelogs', 4_001), 200],
  ])('parks the job with the reason, and reminds nobody: %s', async (what, rename, reason, put, pages) => {
    const paginatesAll = what !== 'a list of users that is cut';
    relay = await startFriday(timesheets({ people: 'all' }), { sandbox: { rename, paginatesAll } });
    for (let entry = 0; entry < 101; entry++) relay.logs(lucas, 0.01);
    relay.logsWeek(mira);
    put?.();
    await relay.remind();
    expect(await relay.outcomes('team-timesheets')).toEqual([`parked: ${reason}`]);
    expect(relay.reminded()).toEqual([]);
    if (pages) expect(relay.calls()).toMatchObject({ [reason.startsWith('users') ? USERS : ENTRIES]: pages });
  });

  it('has all its entries without an id counted', async () => {
    const rename = renamed('/timelogs/list', 'timelog_id');
    relay = await startFriday(timesheets({ people: [mira.email] }), { sandbox: { rename } });
    relay.logsWeek(mira);
    await relay.remind();
    expect(await relay.outcomes('team-timesheets')).toEqual(['0 of 1 have time missing for 2026-11-20']);
  });

  it('may use numbers as user ids', async () => {
    relay = await startFriday(timesheets({ people: 'all' }));
    const number = 17 as unknown as string;
    relay.sandbox.data.users.splice(0, 9, { user_id: number, name: mira.name, email: mira.email });
    await beforeMessage(() => relay.logsWeek({ ...mira, userId: number }));
    expect(await relay.outcomes('timesheet-reminder')).toEqual(['nothing to do: the timesheet is complete now']);
  });
});

it('a refused task name is requested once for a team, again after an hour, and kept for a month once known', async () => {
  relay = await startFriday(timesheets({ people: [mira.email, tomasz.email], remindOf: 'day' }));
  for (const person of [mira, tomasz]) relay.logs(person, 1, { task: 'gone', date: MONDAY });
  for (const [day, count] of [
    [0, 1],
    [3, 2],
    [4, 3],
    [5, 3],
  ] as const) {
    relay.clock.now = DUE + day * 86_400_000;
    if (day === 4) relay.addTasks({ gone: 'Back' });
    await relay.remind();
    expect([day, relay.requestsTo('/tasks/detail')]).toEqual([day, count]);
  }
});

describe('a person with an unreadable entry', () => {
  const hours = 'hours: expected hours such as 1.5, "1,50" or "1:30", no more than 24';
  const date = 'date: expected a date such as 2026-11-20';
  const differ = 'minutes: expected the same duration as in hours';

  it('gets no reminder, and the job says why without quoting the entry', async () => {
    relay = await startFriday(timesheets({ people: 'all' }));
    const [known, ...others] = crowd(6) as [Person, ...Person[]];
    for (const [index, fields] of [
      ...[{ hours: 'all day' }, { hours: -1 }, { hours: null }],
      ...[{ date: '2026-11-19 noon' }, { minutes: 30 }],
    ].entries()) {
      const person = others[index] as Person;
      relay.logs(person, 1);
      relay.logs(person, 2, fields);
    }
    relay.logs(known, 1);
    await relay.remind();
    expect(relay.reminded()).toEqual([known.name]);
    expect(await relay.outcomes('team-timesheets')).toEqual([
      `1 of 6 have time missing for 2026-11-20; of 5 entries cannot be read: ${hours}, ${date}, ${differ}`,
    ]);
  });

  it('gets no reminder either if the entry became unreadable after the first reading', async () => {
    relay = await startFriday(timesheets({ people: [mira.email] }));
    await beforeMessage(() => relay.logs(mira, 'all day'));
    expect(relay.reminded()).toEqual([]);
    expect(await relay.outcomes('timesheet-reminder')).toEqual([`entries cannot be read: ${hours}`]);
  });
});
