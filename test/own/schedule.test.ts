import { schedule } from 'partner-relay';
import { describe, expect, it } from 'vitest';
import type { Now } from '../../console/contract.ts';
import * as mondayTasks from '../../docs/guides/automations/monday-tasks.ts';
import type { ScheduleEvent } from '../../lib/schedules.ts';
import { nextTimeOf } from '../../lib/triggers/cron.ts';
import { consoleOf } from '../console/console-of.ts';
import { startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;

const MINUTE = 60_000;

const start = async (on: unknown = mondayTasks.on, name = 'monday-tasks', now = '2026-11-20T12:00:00Z') => {
  relay = await startRelay({ own: { [name]: { on, run: mondayTasks.run } } });
  relay.clock.now = Date.parse(now);
};

/** Ticks at a time. @returns the times for which the tick made new jobs */
async function tick(at: string, event: ScheduleEvent = {}): Promise<unknown[]> {
  relay.clock.now = Math.max(relay.clock.now, Date.parse(at));
  const made = (await relay.fire('due-schedules', { at, ...event })) as { jobs: { id: string; repeat: boolean }[] };
  const jobs = await Promise.all(
    made.jobs.map(async ({ id, repeat }) => (repeat ? [] : [await relay.stores.jobs.get(id)])),
  );
  return jobs.flat().map((job) => job?.input.at);
}

/** Ticks every 15 minutes of a period. */
async function ticks(from: string, to: string): Promise<unknown[]> {
  const made: unknown[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 15 * MINUTE)
    made.push(...(await tick(new Date(at).toISOString())));
  return made;
}

it("a team's schedule makes one job at its time, with the local date", async () => {
  await start();
  expect(await ticks('2026-11-23T07:00Z', '2026-11-23T09:00Z')).toEqual(['2026-11-23T08:00:00.000Z']);
  const [job] = await relay.jobs();
  expect(job).toMatchObject({
    summary: 'monday-tasks: as of 2026-11-23 09:00 Europe/Berlin',
    connection: 'main',
    lane: 'background',
    input: { date: '2026-11-23', at: '2026-11-23T08:00:00.000Z' },
    cause: { from: 'schedule', id: '2026-11-23T08:00:00.000Z' },
  });
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([
    { status: 'succeeded', outcome: expect.stringMatching(/^posted \d+ tasks$/) },
  ]);
});

describe('ticks', () => {
  const daily = schedule('0 9 * * *', 'UTC');
  it.each<[string, string[], string[]]>([
    ['a file that is new does not fire for earlier times', ['2026-11-20T09:15Z'], []],
    ['a missed tick is made up for', ['2026-11-20T08:45Z', '2026-11-20T09:30Z'], ['2026-11-20T09:00:00.000Z']],
    [
      'three missed days: 24 hours are made up for',
      ['2026-11-20T08:45Z', '2026-11-23T10:00Z'],
      ['2026-11-23T09:00:00.000Z'],
    ],
    ['a repeated tick makes no second job', ['2026-11-20T09:00Z', '2026-11-20T09:00Z'], ['2026-11-20T09:00:00.000Z']],
    [
      'an older tick that comes late changes nothing',
      ['2026-11-20T08:45Z', '2026-11-20T09:15Z', '2026-11-20T08:30Z', '2026-11-20T09:30Z'],
      ['2026-11-20T09:00:00.000Z'],
    ],
  ])('%s', async (_, times, expected) => {
    await start(daily, 'daily', '2026-11-20T08:00:00Z');
    const made: unknown[] = [];
    for (const time of times) made.push(...(await tick(time)));
    expect(made).toEqual(expected);
  });

  it("a time in the future, as for `partner-relay run due-schedules --at`, does not affect the team's schedules", async () => {
    await start(daily, 'daily', '2026-11-20T08:00:00Z');
    await tick('2026-11-20T08:00Z');
    expect(await relay.fire('due-schedules', { at: '2027-01-01T09:00Z' })).toEqual({ due: 0, jobs: [] });
    expect(await tick('2026-11-20T09:00Z')).toEqual(['2026-11-20T09:00:00.000Z']);
  });

  it('`partner-relay run <schedule> --at` makes the job of that time, once', async () => {
    await start();
    const at = '2026-11-20T10:30:00.000Z';
    expect(await tick(at, { own: 'monday-tasks' })).toEqual([at]);
    expect(await tick(at, { own: 'monday-tasks' })).toEqual([]);
    const shown = await consoleOf(relay);
    const { schedules } = await shown.get<Now>('/api/now');
    await shown.close();
    expect(schedules.find(({ name }) => name === 'monday-tasks')?.lastAt).toBe(relay.clock.now);
    await expect(tick('2026-10-01T10:30Z', { own: 'monday-tasks' })).rejects.toThrow('more than 29 days before');
    await expect(tick(at, { own: 'block' })).rejects.toThrow("there is no schedule 'block'");
  });
});

describe('daylight saving', () => {
  it.each<[string, string, string, string, string[]]>([
    ['a skipped time is due when the clock continues', 'Europe/Berlin', '30 2 * * *', '2026-03-29', ['01:00']],
    ['several that are skipped are due once', 'Europe/Berlin', '0,30 2 * * *', '2026-03-29', ['01:00']],
    ['a step in an hour that is skipped is due once', 'Europe/Berlin', '*/30 2 * * *', '2026-03-29', ['01:00']],
    ['the others of the hour are due as ever', 'Europe/Berlin', '30 2,3 * * *', '2026-03-29', ['01:00', '01:30']],
    ['a time of any hour continues', 'Europe/Berlin', '30 * * * *', '2026-03-29', ['00:30', '01:30', '02:30']],
    ['a time that comes twice is due the first time', 'Europe/Berlin', '30 2 * * *', '2026-10-25', ['00:30']],
    ['the end of a date is skipped', 'America/Nuuk', '30 23 * * *', '2026-03-29', ['01:00']],
    ['the end of the only such day of the week is skipped', 'America/Nuuk', '30 23 * * SAT', '2026-03-29', ['01:00']],
    ['the end of another day is not', 'America/Nuuk', '30 23 * * SUN', '2026-03-29', []],
    ['the beginning of a date is skipped', 'Africa/Cairo', '30 0 * * *', '2026-04-23', ['22:00']],
  ])('%s (%s, %s)', async (_, zone, cron, date, expected) => {
    await start(schedule(cron, zone), 'at-night', `${date}T00:00:00Z`);
    const [from, to] = [date, Date.parse(date) + (expected[0] === '22:00' ? 24 : 3) * 60 * MINUTE];
    const due = expected.map((time) => `${date}T${time}:00.000Z`);
    expect(await ticks(from, new Date(to).toISOString())).toEqual(due);
    if (due[0]) expect(nextTimeOf(cron, zone, Date.parse(date))).toBe(Date.parse(due[0]));
  });
});
