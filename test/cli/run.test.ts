import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addRunCommand, readTime } from '../../cli/run.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { controlRoutes } from '../../local/control-routes.ts';
import { startHttpFront } from '../../local/http-front.ts';
import { createLocalSchedules, loadSchedules } from '../../local/schedules.ts';
import { noteRunning } from '../../local/state.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

/** Runs the command. @returns what it printed */
async function run(words: string[], stage?: string): Promise<string> {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addRunCommand(program, () => stage);
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => {} });
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await program.parseAsync(['run', ...words], { from: 'user' });
    return log.mock.calls.flat().join('\n');
  } finally {
    log.mockRestore();
  }
}

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

const before = process.cwd();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-relay-'));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true, force: true });
});

describe('relay run', () => {
  it('wants a relay that runs in this folder', async () => {
    await expect(run(['job-sweep'])).rejects.toThrow('no relay runs in this folder');
  });

  it.each([
    [['nothing'], /Allowed choices are job-sweep, credential-check/],
    [['timesheet-reminder', '--at', 'noon'], /expected a time such as 2026-11-20T16:30/],
    [['job-sweep', '--at', '2026-11-20T16:30'], /job-sweep looks at what there is now, so that it takes no --at/],
  ])('does not take %j', async (words, why) => {
    await expect(run(words)).rejects.toThrow(why);
  });
});

describe('relay run, on this machine', () => {
  let relay: TestRelay;
  let front: Server;
  beforeEach(async () => {
    const team = {
      name: 'platform',
      connection: 'main',
      timeZone: 'UTC',
      remindAt: '16:30',
      hours: { fri: 8 },
      people: 'all' as const,
    };
    relay = await startRelay({ config: defineConfig({ ...exampleConfig(), timesheets: { teams: [team] } }) });
    const functions = await loadSchedules(relay.runtime);
    const schedules = createLocalSchedules(functions, { clock: relay.runtime.clock, failed: () => {} });
    const { variables } = relay.stack;
    front = await startHttpFront(0, controlRoutes(schedules, variables.AWS_ACCESS_KEY_ID));
    noteRunning({ url: addressOf(front), variables });
  });
  afterEach(() => Promise.all([close(front), relay.close()]));

  it('fires the function of the relay that runs, and shows what it returned', async () => {
    const { checked } = JSON.parse(await run(['credential-check', '--json']));
    expect(checked).toMatchObject([
      { holder: 'partner/main', verdict: 'good' },
      { holder: 'github', verdict: 'skipped' },
      { holder: 'slack', verdict: 'good' },
    ]);
    expect(await run(['job-sweep'])).toBe('job-sweep ran:\n{\n  "swept": 0\n}');
  });

  it('fires it as of another time', async () => {
    const due = ['timesheet-reminder', '--at', '2026-11-20T17:30+01:00'];
    expect(await run(due)).toBe('timesheet-reminder ran, as of 2026-11-20T16:30:00.000Z:\n{\n  "due": 1\n}');
    expect(await run(['timesheet-reminder', '--json'])).toBe('{\n  "due": 0\n}');
  });

  it('tells why the function failed', async () => {
    await relay.stack.close();
    await expect(run(['job-sweep'])).rejects.toThrow(/^job-sweep failed: .*ECONNREFUSED/);
  });

  it.each([
    ['no key', {}],
    ['another key', { authorization: 'Bearer LOCAL0123456789ABCDEF' }],
  ])('lets nobody fire it with %s', async (_, headers: Record<string, string>) => {
    const response = await fetch(`${addressOf(front)}/schedules/credential-check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(relay.sandbox.requests).toBe(0);
  });

  it.each(['', 'no JSON', '[]', '{"at":"noon"}', '{"from":"2026-11-20T16:30:00Z"}'])(
    'refuses an event that is none: %j',
    async (body) => {
      const authorization = `Bearer ${relay.stack.variables.AWS_ACCESS_KEY_ID}`;
      const response = await fetch(`${addressOf(front)}/schedules/credential-check`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body,
      });
      expect(response.ok).toBe(false);
      expect(relay.sandbox.requests).toBe(0);
    },
  );
});

describe('relay --stage … run', () => {
  let lambda: Server;
  let invoked: { path: string | undefined; event: unknown }[];
  let answer: { headers: Record<string, string>; body: unknown };
  beforeEach(async () => {
    invoked = [];
    lambda = createServer(async (request, response) => {
      invoked.push({ path: request.url, event: JSON.parse(await text(request)) });
      response.writeHead(200, answer.headers).end(JSON.stringify(answer.body));
    });
    await once(lambda.listen(0, '127.0.0.1'), 'listening');
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', addressOf(lambda));
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await close(lambda);
  });

  it('invokes the deployed function, as of the time that was given', async () => {
    answer = { headers: {}, body: { due: 2 } };
    expect(await run(['timesheet-reminder', '--at', '2026-11-20T16:30', '--json'], 'prod')).toBe('{\n  "due": 2\n}');
    const path = '/2015-03-31/functions/partner-relay-prod-timesheet-reminder/invocations';
    expect(invoked).toEqual([{ path, event: { at: '2026-11-20T16:30:00.000Z' } }]);
  });

  it('tells why it failed', async () => {
    const body = { errorType: 'AggregateError', errorMessage: '1 of 3 holders were not checked' };
    answer = { headers: { 'x-amz-function-error': 'Unhandled' }, body };
    await expect(run(['credential-check'], 'prod')).rejects.toThrow(
      'credential-check failed: 1 of 3 holders were not checked; its log says more',
    );
  });
});

describe('a time on the command line', () => {
  it.each([
    ['2026-11-20T16:30', '2026-11-20T16:30:00.000Z'],
    ['2026-11-20T16:30:15', '2026-11-20T16:30:15.000Z'],
    ['2026-11-20T16:30Z', '2026-11-20T16:30:00.000Z'],
    ['2026-11-20T17:30+01:00', '2026-11-20T16:30:00.000Z'],
    ['2026-11-20T11:30:00-05:00', '2026-11-20T16:30:00.000Z'],
    // Skipped by daylight saving in Berlin, but a minute like any other in UTC.
    ['2026-03-29T02:30', '2026-03-29T02:30:00.000Z'],
  ])('%s is %s', (typed, time) => {
    expect(readTime(typed).toISOString()).toBe(time);
  });

  it('is the same when it is typed as it is shown', () => {
    const times = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(times, (time) => {
        expect(readTime(time.toISOString())).toEqual(time);
      }),
    );
  });

  it.each(['', 'now', '2026-11-20', '16:30', '2026-02-30T10:00', '2026-11-20T25:00', '2026-11-20 16:30', '1795192200'])(
    'is not %j',
    (typed) => {
      expect(() => readTime(typed)).toThrow(/expected a time such as/);
    },
  );
});
