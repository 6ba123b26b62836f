import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays } from '../../lib/dates.ts';
import { contextUntil, functionsOf } from '../../local/world/functions.ts';
import { workWith } from '../people/changed-config.ts';
import { exampleConfig } from '../relay.ts';
import { MIRA, NOBODY, press } from '../slack-requests.ts';
import { EVERY_DAY, teamInput, withTeams } from '../timesheets/team.ts';
import { DAY, DUE, HOUR, people, startFriday, type TeamRelay, timesheets, WEEK } from './timesheet-team.ts';

const { aisha, lucas, mira, tomasz } = people;
const [MONDAY, , WEDNESDAY, , FRIDAY] = WEEK;

let relay: TeamRelay;

describe('a reminder', () => {
  it('is sent once, even if the schedule fires many times', async () => {
    relay = await startFriday();
    const fire = () => relay.fire('due-schedules');
    expect(await Promise.all([fire(), fire(), fire()])).toMatchObject([{ due: 1 }, { due: 1 }, { due: 1 }]);
    for (; relay.clock.now < DUE + 12 * HOUR; relay.clock.now += HOUR / 4) {
      await relay.work();
      await fire();
    }
    await relay.workToTheEnd();
    expect(relay.reminded()).toEqual([aisha.name, mira.name, tomasz.name]);
  });

  it('is due at the time of its tick, however late the tick comes', async () => {
    relay = await startFriday(timesheets({ people: [mira.email] }));
    relay.clock.now += 20 * HOUR;
    for (const at of ['2026-11-20T16:29:59.999+01:00', '2026-11-21T00:00:00+01:00', '2026-11-20T23:59:59+01:00']) {
      expect(await relay.outcomes('timesheet-reminder')).toEqual([]);
      await relay.fire('due-schedules', { at });
      await relay.workToTheEnd();
    }
    expect(relay.reminded()).toEqual([mira.name]);
  });

  it.each([
    ['timesheets are read', 'team-timesheets', 0],
    ['a person is reminded', 'timesheet-reminder', 1],
  ])('is not sent after the end of the day: %s', async (_, automation, workedBefore) => {
    relay = await startFriday(timesheets({ people: [mira.email] }));
    await relay.fire('due-schedules');
    await workWith(relay, {}, {}, workedBefore);
    relay.clock.now = Date.parse('2026-11-21T00:00+01:00');
    await relay.workToTheEnd();
    expect(relay.reminded()).toEqual([]);
    expect(await relay.outcomes(automation)).toEqual(['nothing to do: the day is over']);
  });

  it('is sent once wherever the worker dies, because the sweep starts another worker', async () => {
    relay = await startFriday(timesheets({ people: [mira.email, tomasz.email], hours: EVERY_DAY, remindOf: 'day' }));
    await nextDay();
    await relay.work();
    await nextDay();
    const looks = await workAndDieAt(Number.POSITIVE_INFINITY);
    expect(looks).toBeGreaterThan(100);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: looks }), async (nth) => {
        await nextDay();
        // The number of clock readings varies a little, so the last ones may not be reached.
        await workAndDieAt(nth);
        await relay.workToTheEnd();
        expect(relay.reminded()).toEqual([mira.name, tomasz.name]);
      }),
      { numRuns: 4 },
    );
    expect((await relay.jobs()).filter(({ status }) => status !== 'succeeded')).toEqual([]);
  });

  async function nextDay(): Promise<void> {
    relay.clock.now = Date.parse(`${addDays(new Date(relay.clock.now).toISOString().slice(0, 10), 1)}T15:30Z`);
    relay.slack.messages.length = 0;
    await relay.fire('due-schedules');
  }

  /** Works until the nth reading of the clock, where the worker dies. @returns the number of readings */
  async function workAndDieAt(nth: number): Promise<number> {
    let looks = 0;
    const clock = () => {
      looks += 1;
      if (looks >= nth) throw new Error('killed');
      return relay.clock.now;
    };
    await workWith(relay, {}, { clock }).catch((error: unknown) => {
      if (looks < nth) throw error;
    });
    return looks;
  }
});

describe('a person who logs the missing time between the reading and the message', () => {
  const held: [string, () => void][] = [
    ['Slack wants fewer look-ups', () => relay.slack.fail({ method: 'users.lookupByEmail', ...limited(600) })],
    ['Slack is down', () => relay.slack.fail({ method: 'chat.postMessage', kind: 'server-error', times: 6 })],
    [
      'the service names no task',
      () => relay.sandbox.setFault({ operation: '/tasks/detail', times: 1, ...limited(660) }),
    ],
  ];

  it.each(held)('gets no reminder after completing the day, ten minutes later: %s', async (_, hold) => {
    relay = await startFriday(timesheets({ people: [mira.email], remindOf: 'day' }));
    relay.logs(mira, 2);
    hold();
    await relay.fire('due-schedules');
    await relay.work();
    relay.logs(mira, 4.5);
    await relay.workToTheEnd();
    expect(relay.reminded()).toEqual([]);
    expect(await relay.outcomes('timesheet-reminder')).toEqual(['nothing to do: the timesheet is complete now']);
    expect(relay.calls()).toMatchObject({ '/users/list': 1, '/timelogs/list': 2 });
  });

  it('reads the time that is missing when the reminder is sent', async () => {
    relay = await startFriday(timesheets({ people: [mira.email], remindOf: 'day' }));
    relay.logs(mira, 2);
    relay.slack.fail({ method: 'users.lookupByEmail', ...limited(600) });
    await relay.fire('due-schedules');
    await relay.work();
    relay.logs(mira, 1);
    await relay.workToTheEnd();
    expect(relay.reminderTo(mira)).toContain('*Friday 20 November*: 3h of 6h30m, 3h30m missing');
  });

  it.each([
    [599, 1, 1],
    [600, 1, 2],
    [600, 2, 3],
  ])('entries are read again every ten minutes: %i s, %i times, %i readings', async (seconds, times, readings) => {
    relay = await startFriday(timesheets({ people: [mira.email] }));
    relay.slack.fail({ method: 'chat.postMessage', times, ...limited(seconds) });
    await relay.remind();
    expect(relay.reminded()).toEqual([mira.name]);
    expect(relay.calls()).toMatchObject({ '/users/list': 1, '/timelogs/list': readings });
  });

  it("only that person's entries are read again", async () => {
    relay = await startFriday();
    relay.logs(tomasz, 1, { date: MONDAY });
    await relay.fire('due-schedules');
    await workWith(relay, {}, {}, 1);
    expect(await relay.jobs('queued')).toHaveLength(3);
    relay.clock.now += HOUR / 6;
    relay.logsWeek(mira);
    for (let entry = 0; entry < 100; entry++) relay.logs(lucas, 0.01);
    await relay.workToTheEnd();
    expect(relay.reminded()).toEqual([aisha.name, tomasz.name]);
    expect(relay.calls()).toMatchObject({ '/users/list': 1, '/timelogs/list': 4 });
  });
});

function limited(retryAfterSeconds: number) {
  return { kind: 'rate-limited', retryAfterSeconds } as const;
}

describe('the people whom Slack knows', () => {
  const lookups = () => relay.slack.calls.filter(({ method }) => method === 'users.lookupByEmail').length;

  it('Slack is asked for each service address once a week', async () => {
    relay = await startFriday(timesheets({ people: [mira.email], remindOf: 'day' }));
    for (const [days, asked] of [
      [0, 1],
      [6, 1],
      [7, 2],
    ] as const) {
      relay.clock.now = DUE + days * DAY;
      await relay.remind();
      expect([days, lookups()]).toEqual([days, asked]);
    }
    expect(relay.reminded()).toHaveLength(3);
  });

  it('a person may have another address in Slack if relay.config.ts maps it', async () => {
    const people = [{ email: 'Lucas.Pereira@example.com', slack: NOBODY }];
    relay = await startFriday(timesheets({ people: [lucas.email] }, { people }));
    await relay.remind();
    expect(relay.reminded()).toEqual(['Jonas Weber']);
    expect(relay.slack.calls.map(({ method }) => method)).toEqual(['chat.postMessage']);
  });

  it.each([
    ['no user', undefined],
    ['a bot', { is_bot: true }],
    ['a member of another workspace', { team_id: 'T0ELSEWHERE' }],
  ])('the address may be that of %s, which the job reports, and the others get their reminders', async (_, change) => {
    relay = await startFriday(timesheets({ people: [mira.email, tomasz.email] }));
    if (change) Object.assign(relay.slack.users.get(MIRA) ?? {}, change);
    else relay.slack.users.delete(MIRA);
    await relay.remind();
    expect(relay.reminded()).toEqual([tomasz.name]);
    expect(await relay.outcomes('timesheet-reminder')).toEqual([
      "nobody in Slack has this user's e-mail address",
      expect.stringMatching(/^sent: \S+ missing$/),
    ]);
    // A missing person may appear tomorrow.
    relay.clock.now += 3 * DAY;
    await relay.remind();
    expect(lookups()).toBe(3);
  });

  it('a person who left Slack is reported by the job', async () => {
    relay = await startFriday(timesheets({ people: [mira.email] }));
    await relay.remind();
    relay.slack.users.set(MIRA, { id: MIRA, name: mira.name, deleted: true });
    relay.clock.now += 3 * DAY;
    await relay.remind();
    expect(await relay.outcomes('timesheet-reminder')).toEqual([
      'Slack cannot deliver it to this person (channel_not_found)',
      expect.stringMatching(/^sent: \S+ missing$/),
    ]);
  });
});

it('teams of two connections remind the same person, until that person mutes the day', async () => {
  const people = [mira.email, tomasz.email];
  const teams = [
    { ...teamInput, people, name: 'main', connection: 'main', remindAt: '16:30' },
    { ...teamInput, people, name: 'other', connection: 'other', remindAt: '17:30' },
  ];
  relay = await startFriday(withTeams(teams, { connections: { main: {}, other: {} } }));
  await relay.remind();
  const [message = expect.fail('there is no reminder')] = relay.reminders().get(mira.name) ?? [];
  const pressed = await press(relay, message, 'Mute today', { userId: MIRA, channelId: message.channel });
  expect(pressed.status).toBe(200);
  expect(relay.slack.messages.at(-1)).toMatchObject({
    kind: 'ephemeral',
    text: ':no_bell: You will get no more reminders for Friday 20 November.',
  });
  relay.clock.now += HOUR;
  await relay.remind();
  expect(relay.reminded()).toEqual([mira.name, tomasz.name, tomasz.name]);
  expect(await relay.outcomes('timesheet-reminder')).toContain('nothing to do: muted for that day');
  relay.clock.now += 3 * DAY;
  await relay.remind();
  expect(relay.reminders().get(mira.name)).toHaveLength(3);
});

const late = { joined: [{ email: mira.email, on: WEDNESDAY }], people: [mira.email], remindOf: 'week' as const };
const created = (on: string) => {
  const user = relay.sandbox.data.users.find(({ email }) => email === mira.email);
  Object.assign(user ?? {}, { dt_created: `${on} 08:00:00` });
};

it.each([
  ['by the service', { ...late, joined: [] }, WEDNESDAY, '22h30m'],
  ['by relay.config.ts, and by the service on Friday', late, FRIDAY, '22h30m'],
  ['long ago', { ...late, joined: [] }, '2020-01-01', '38h30m'],
])('a person who joined on Wednesday is short only after joining: %s', async (_, change, on, expected) => {
  relay = await startFriday(timesheets(change));
  created(on);
  await relay.remind();
  expect(relay.reminderTo(mira)).toContain(`*The week up to that day*: 0h of ${expected}`);
});

it('an unknown address in the settings is reported only by its path, because outcomes are logged', async () => {
  const strangers = { quiet: ['q@example.org'], partTime: [{ email: 'p@example.org', hours: { fri: 1 } }] };
  relay = await startFriday(
    timesheets({ people: 'all', ...strangers, joined: [{ email: mira.email, on: WEDNESDAY }] }),
  );
  relay.sandbox.data.users.length = 2;
  await relay.remind();
  expect(await relay.outcomes('team-timesheets')).toEqual([
    '2 of 2 have time missing for 2026-11-20; no user of the service has the address at quiet.0, partTime.0.email',
  ]);
});

describe('a dry run', () => {
  const teams = [
    { ...teamInput, people: [mira.email], summary: { channel: 'C0PLATFORM', on: 'fri' as const, at: '16:30' } },
  ];
  const settings = (dryRun: boolean) => exampleConfig({}, { timesheets: { teams, dryRun } });
  const scheduleWith = async (dryRun: boolean) => {
    const { fire } = functionsOf(() => ({ ...relay.runtime, config: settings(dryRun) }));
    await fire(
      'due-schedules',
      {},
      contextUntil(60_000, () => 0),
    );
  };
  const sent = () => relay.slack.messages.map(({ channel }) => channel).sort();

  it.each<[string, boolean[], (boolean | number)[], string[]]>([
    ['is one, whatever relay.config.ts says when it runs', [true], [false], []],
    ['does not stand in the way of the real one', [true, false], [true], ['C0PLATFORM', 'D0MIRA001']],
    ['does not, neither where it runs first', [true, false], [false], ['C0PLATFORM', 'D0MIRA001']],
    ['that is put in too late stops nothing', [false], [true], ['C0PLATFORM', 'D0MIRA001']],
    ['that comes and goes sends what was due, once', [false, true, false], [true, false], ['C0PLATFORM', 'D0MIRA001']],
  ])('%s', async (_, made, worked, messages) => {
    relay = await startFriday(settings(false));
    for (const dryRun of made) await scheduleWith(dryRun);
    for (const dryRun of worked) await workWith(relay, settings(dryRun === true));
    await relay.workToTheEnd();
    expect(sent()).toEqual(messages);
  });

  it('a replayed dry run is still a dry run', async () => {
    relay = await startFriday(settings(false));
    await scheduleWith(true);
    await workWith(relay, {}, { config: exampleConfig() });
    await relay.replay();
    expect(await relay.jobs('parked')).toEqual([]);
    expect(sent()).toEqual([]);
  });

  it('a dry run sends nothing, and the jobs say what they would have sent', async () => {
    relay = await startFriday(settings(true));
    await relay.remind();
    expect(relay.slack.messages).toEqual([]);
    expect(await relay.outcomes('timesheet-reminder')).toEqual(['dry run: would send Mira Novak: 6h30m missing']);
    expect(await relay.outcomes('timesheet-summary')).toEqual([
      'dry run: would send C0PLATFORM: Team platform, Monday 9 November to Sunday 15 November: 0 of 1 timesheets are complete',
    ]);
  });
});

describe('settings', () => {
  it('without teams, nothing is due', async () => {
    relay = await startFriday(exampleConfig());
    expect(await relay.fire('due-schedules')).toEqual({ due: 0, jobs: [] });
    expect(await relay.jobs()).toEqual([]);
  });

  it.each([
    ['team-timesheets', 0, "relay.config.ts no longer has a team 'platform'"],
    ['timesheet-reminder', 1, "relay.config.ts no longer has a team 'platform', or slack"],
  ])('if the settings no longer have the team, its jobs are parked: %s', async (automation, workedBefore, reason) => {
    relay = await startFriday(timesheets({ people: [mira.email] }));
    await relay.fire('due-schedules');
    await workWith(relay, {}, {}, workedBefore);
    await workWith(relay, {}, { config: exampleConfig() });
    expect(await relay.outcomes(automation)).toEqual([`parked: ${reason}`]);
    expect(relay.reminded()).toEqual([]);
  });
});
