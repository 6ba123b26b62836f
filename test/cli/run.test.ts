import { resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readMoment } from '../../cli/moment.ts';
import type { OpenTarget } from '../../cli/target.ts';
import * as mondayTasks from '../../docs/guides/automations/monday-tasks.ts';
import { controlRoutes } from '../../local/control-routes.ts';
import { startHttpFront } from '../../local/http-front.ts';
import type { Listening } from '../../local/listen.ts';
import { createLocalSchedules, schedulesOf } from '../../local/schedules.ts';
import { noteRunning } from '../../local/state.ts';
import { type HttpStandIn, startHttpStandIn } from '../http-stand-in.ts';
import { workInNewFolder } from '../new-folder.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { teamInput } from '../timesheets/team.ts';
import { runRelay } from './run-command.ts';

const open: OpenTarget = async () => {
  throw new Error('the table cannot be read');
};

/** Runs the command. @returns its output */
const run = (words: string[], stage?: string) => runRelay({ stage: () => stage, customFolder: OWN }, 'run', ...words);

const OWN = resolve(import.meta.dirname, '../../docs/guides/automations');

beforeEach(() => void workInNewFolder());

describe('relay run', () => {
  it('relay run needs a running relay in this folder', async () => {
    await expect(run(['job-sweep'])).rejects.toThrow('no relay is running in this folder');
  });

  it.each([
    [['nothing'], /there is no schedule 'nothing'; there are job-sweep, credential-check.*, monday-tasks/],
    [['due-schedules', '--at', 'noon'], /or a time such as 2026-11-20T16:30/],
    [['job-sweep', '--at', '2026-11-20T16:30'], /job-sweep does not accept --at/],
  ])('relay run refuses %j', async (words, why) => {
    await expect(run(words)).rejects.toThrow(why);
  });
});

describe('relay run, on this machine', () => {
  let relay: TestRelay;
  let front: Listening;
  beforeEach(async () => {
    const config = exampleConfig({}, { timesheets: { teams: [{ ...teamInput, timeZone: 'UTC', hours: { fri: 8 } }] } });
    relay = await startRelay({ config, own: { 'monday-tasks': mondayTasks } });
    const functions = schedulesOf(relay.functions);
    const schedules = createLocalSchedules(() => functions, { clock: relay.runtime.clock, failed: () => {} });
    const { variables } = relay.stack;
    front = await startHttpFront(0, controlRoutes(schedules, variables.AWS_ACCESS_KEY_ID));
    noteRunning({ url: front.url, console: front.url, logFile: '', variables });
  });
  afterEach(() => front.close());

  it('relay run runs the function of the local relay and prints its result', async () => {
    const { checked } = JSON.parse(await run(['credential-check', '--json']));
    expect(checked).toMatchObject([
      { secret: 'partner/main', verdict: 'good' },
      { secret: 'github', verdict: 'skipped' },
      { secret: 'slack', verdict: 'good' },
    ]);
    expect(await run(['credential-check'])).toMatch(
      /^credential-check ran\.\n\S*✓\S* partner\/main +validate returned/,
    );
    expect(await run(['job-sweep'])).toBe('job-sweep ran.\nQueued 0 jobs again.');
  });

  it('relay run due-schedules names its jobs, or says when something was due', async () => {
    const { jobs } = JSON.parse(await run(['due-schedules', '--at', '2026-11-20T17:30+01:00', '--json']));
    expect(jobs).toMatchObject([{ summary: 'team-timesheets of platform, 2026-11-20', repeat: false }]);
    expect(await run(['due-schedules', '--at', '2026-11-20T17:30+01:00'])).toMatch(
      /^due-schedules ran as of 2026-11-20 [^(]*\.\nKnown job \w{6}: team-timesheets of platform, 2026-11-20$/,
    );
    const nothing = ['due-schedules', '--at', '2026-11-22T05:00Z'];
    // The teams of relay.config.ts.
    expect(await run(nothing)).toMatch(
      /^due-schedules ran as of 2026-11-22 [^(]*\.\nNo timesheets are due at 2026-11-22.*The last time that timesheets were due: --at 2026-11-20T15:30:00.000Z$/,
    );
    expect(JSON.parse(await run([...nothing, '--json']))).toEqual({ due: 0, jobs: [] });
  });

  it('relay run monday-tasks makes the job of a schedule of the team', async () => {
    const { jobs } = JSON.parse(await run(['monday-tasks', '--at', '2026-11-16T09:00+01:00', '--json']));
    expect(jobs).toMatchObject([{ summary: 'monday-tasks: as of 2026-11-16 09:00 Europe/Berlin', repeat: false }]);
  });

  it('relay run prints why the local function failed', async () => {
    await relay.stack.close();
    await expect(run(['job-sweep'])).rejects.toThrow(/^job-sweep failed: .*(ECONNREFUSED|ENOTFOUND)/);
  });

  it("a schedule cannot be run without the relay's key, and accepts only a time", async () => {
    const post = (headers: Record<string, string>, body: string) =>
      fetch(`${front.url}/schedules/credential-check`, { method: 'POST', headers, body });
    for (const headers of [{}, { authorization: 'Bearer LOCAL0123456789ABCDEF' }] as Record<string, string>[])
      expect((await post(headers, '{}')).status).toBe(401);
    const authorization = `Bearer ${relay.stack.variables.AWS_ACCESS_KEY_ID}`;
    for (const body of ['', 'no JSON', '[]', '{"at":"noon"}', '{"from":"2026-11-20T16:30:00Z"}'])
      expect((await post({ authorization }, body)).status, body).toBe(500);
    expect(relay.sandbox.requests).toBe(0);
  });
});

describe('partner-relay --stage … run', () => {
  let lambda: HttpStandIn;
  let answer: { headers: Record<string, string>; body: unknown };
  beforeEach(async () => {
    lambda = await startHttpStandIn(() => ({ status: 200, ...answer }));
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', lambda.url);
    for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'test');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('relay run invokes the deployed function with the given time', async () => {
    answer = { headers: {}, body: { due: 2 } };
    expect(await run(['due-schedules', '--at', '2026-11-20T16:30', '--json'], 'prod')).toBe('{\n  "due": 2\n}');
    const route = 'POST /2015-03-31/functions/partner-relay-prod-due-schedules/invocations';
    expect(lambda.asked).toMatchObject([{ route, body: '{"at":"2026-11-20T16:30:00.000Z"}' }]);
  });

  it('relay run prints why the deployed function failed', async () => {
    const body = { errorType: 'AggregateError', errorMessage: '1 of 3 credentials were not checked' };
    answer = { headers: { 'x-amz-function-error': 'Unhandled' }, body };
    const why = 'credential-check failed: 1 of 3 credentials were not checked; see its log for details';
    await expect(run(['credential-check'], 'prod')).rejects.toThrow(why);
  });
});

describe('a time on the command line', () => {
  const local = (...parts: [number, number, number, number?, number?, number?]) => new Date(...parts).toISOString();

  it.each([
    ['2026-11-20T16:30', local(2026, 10, 20, 16, 30)],
    ['2026-11-20T16:30:15', local(2026, 10, 20, 16, 30, 15)],
    ['2026-11-20', local(2026, 10, 20)],
    ['2026-11-20T16:30Z', '2026-11-20T16:30:00.000Z'],
    ['2026-11-20T17:30+01:00', '2026-11-20T16:30:00.000Z'],
    ['2026-11-20T11:30:00-05:00', '2026-11-20T16:30:00.000Z'],
    ['90m', '2026-11-20T15:00:00.000Z'],
    ['2h', '2026-11-20T14:30:00.000Z'],
    ['3d', '2026-11-17T16:30:00.000Z'],
    ['today', local(2026, 10, 20)],
    ['yesterday', local(2026, 10, 19)],
  ])('%s is %s', (typed, time) => {
    vi.useFakeTimers({ now: Date.parse('2026-11-20T16:30:00Z') });
    expect(readMoment(typed).toISOString()).toBe(time);
    vi.useRealTimers();
  });

  it('a printed time is parsed as the same time', () => {
    const times = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(times, (time) => {
        expect(readMoment(time.toISOString())).toEqual(time);
      }),
    );
  });

  const NO_TIMES = ['', 'now', '2w', '16:30', '2026-02-30T10:00', '2026-11-20T25:00', '2026-11-20 16:30', '1795192200'];
  it.each(NO_TIMES)('a time on the command line is not %j', (typed) => {
    expect(() => readMoment(typed)).toThrow(/or a time such as/);
  });

  it.each([
    ['jobs --since', (typed: string) => runRelay({ open }, 'jobs', '--since', typed)],
    ['run --at', (typed: string) => run(['due-schedules', '--at', typed])],
    ['backfill --since', (typed: string) => runRelay({ open }, 'backfill', 'a/b', '--since', typed)],
    ['github-deliveries --since', (typed: string) => runRelay({ open }, 'github-deliveries', '--since', typed)],
  ])('%s reads a time', async (_, typing) => {
    const expected = /expected 90m, 2h or 3d, today, yesterday, 2026-11-20, or a time such as/;
    await expect(typing('noon')).rejects.toThrow(expected);
    for (const typed of ['2h', '2h ago', '2026-11-20', '2026-11-20T16:30']) {
      await expect(typing(typed)).rejects.not.toThrow('expected');
    }
  });
});
