import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { followJobs } from '../../cli/follow-jobs.ts';
import type { Target } from '../../cli/target.ts';
import { findJobs, findNewJobs } from '../../lib/engine/operate/find-jobs.ts';
import { shortName } from '../../lib/engine/record/job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Table } from '../../lib/state/table/table.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder } from '../new-folder.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { command, MIRA } from '../slack-requests.ts';
import { byClockOf, parseRelay, printed, runRelayOf, targetOf } from './run-command.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const run = (words: string[], more?: Partial<Target>) => runRelayOf(relay, words, more);

const follow = (act: () => Promise<unknown>) => byClockOf(relay, () => printed(act));

async function open(...numbers: number[]): Promise<void> {
  for (const id of numbers) await relay.post('issues', issueEvent('opened', { id }));
  await relay.workToTheEnd();
}

/** A table in which something happens after each of the five statuses was read once. */
function afterFirstLook(happens: () => Promise<void>): Table {
  const { table } = relay.stores;
  let read = 0;
  return {
    ...table,
    async indexPage(...given) {
      const page = await table.indexPage(...given);
      if (++read === 5) await happens();
      return page;
    },
  };
}

describe('relay jobs', () => {
  it('relay jobs lists the jobs of one issue, and counts them', async () => {
    await open(1, 2);
    const shown = await run(['jobs', '--in', 'Codertocat/Hello-World#2']);
    expect(shown).toContain('Codertocat/Hello-World#2 opened');
    expect(shown).not.toContain('Codertocat/Hello-World#1 opened');
    expect(shown).toMatch(/Listed: 1 succeeded\.$/);
    expect(await run(['jobs'])).toMatch(/In all: 2 succeeded\.$/);
  });

  it('relay jobs refuses an invalid place and an unknown automation, and lists none for an automation without jobs', async () => {
    await expect(run(['jobs', '--in', 'Hello-World'])).rejects.toThrow('expected owner/repo or owner/repo#42');
    await expect(run(['jobs', '--automation', 'issue-to-defekt'])).rejects.toThrow(
      "there is no automation 'issue-to-defekt'; did you mean 'issue-to-defect'?",
    );
    expect(await run(['jobs', '--automation', 'issue-to-defect'])).toContain('No jobs.');
  });

  it('waiting jobs are listed soonest first, but jobs of a new delivery are found behind any backlog', async () => {
    await open(1);
    const [job] = await relay.jobs();
    const waits = (id: string, minutes: number) => {
      const wakeAt = relay.clock.now + minutes * 60_000;
      return relay.stores.table.put({
        ...job,
        ...keys.job(id),
        id,
        status: 'waiting',
        wakeAt,
        cause: { from: 'github', id },
      });
    };
    for (let minutes = 1; minutes <= 250; minutes++) await waits(`issue-to-defect-${minutes}`, minutes);
    const found = await findNewJobs(relay.stores.table, 'issue-to-defect-250', relay.clock.now);
    expect(found.map(({ id }) => id)).toEqual(['issue-to-defect-250']);
    const listed: { id: string }[] = JSON.parse(await run(['jobs', '--status', 'waiting', '--limit', '2', '--json']));
    expect(listed.map(({ id }) => id)).toEqual(['issue-to-defect-1', 'issue-to-defect-2']);
  });

  it('people and tasks get their names, where these are known', async () => {
    const task = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
    await command(relay, `log 15m ${task}`, { userId: MIRA });
    await relay.workToTheEnd();
    const [job] = await relay.jobs();
    expect(job?.summary).toBe(`${MIRA}: log 15m ${task}`);
    const named = 'Mira Novak: Logged 15m on Login with passkeys';
    for (const words of [[], ['--person', 'Mira Novak'], ['--person', MIRA], ['--text', 'with passkeys']])
      expect(await run(['jobs', ...words])).toContain(named);
    expect(await run(['job', job?.id ?? ''])).toContain(`event        ${named}`);
    expect(JSON.parse(await run(['jobs', '--json']))[0]).toMatchObject({ summary: job?.summary });
  });

  it('--json has times in ISO 8601, even within a job', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 90, times: 1 });
    await open(1);
    const [{ id } = expect.fail('there is no job')] = await relay.jobs();
    const time = expect.stringMatching(/^2026-11-20T10:\d\d:\d\d\.\d{3}Z$/);
    for (const job of [JSON.parse(await run(['jobs', '--json']))[0], JSON.parse(await run(['job', id, '--json']))]) {
      expect(job).toMatchObject({ createdAt: time, wakeAt: time, waits: { newest: [{ from: time, until: time }] } });
    }
  });

  it('relay job accepts any part of an id that fits one job, and names the jobs that a part fits', async () => {
    await open(1, 2);
    const [one = '', other = ''] = (await relay.jobs()).map(({ id }) => id);
    for (const part of [shortName(one), one.slice(-9, -1)]) expect(await run(['job', part])).toContain(one);
    const fitsBoth = run(['job', 'issue-to-defect-']);
    await expect(fitsBoth).rejects.toThrow(/^issue-to-defect- is in the ids of several jobs: /);
    await expect(fitsBoth).rejects.toThrow(other);
    await expect(run(['job', 'ffffff'])).rejects.toThrow(/there is no job ffffff; .* npx partner-relay jobs/);
  });

  it('relay job counts the attempts of a parked job', async () => {
    await open(1);
    relay.sandbox.setFault({ kind: 'maintenance', operation: '/defects/update' });
    await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'changed' }));
    await relay.workToTheEnd();
    expect(await run(['job', (await relay.jobs('parked'))[0]?.id ?? ''])).toMatch(/^ {2}failed +8 attempts$/m);
  });

  it.each([
    ['first', ['jobs']],
    ['last, next to the changes that follow,', ['jobs', '--follow']],
  ])('the newest job comes %s in relay %j', async (place, words) => {
    await open(1);
    relay.clock.now += 1_000;
    await open(2);
    const { table } = relay.stores;
    let isCounted = false;
    const untilCounted: Table = {
      ...table,
      countIndex(...given) {
        isCounted = true;
        return table.countIndex(...given);
      },
      // Instead of Ctrl+C.
      indexPage: async (...given) => (isCounted ? Promise.reject(new Error('stopped')) : table.indexPage(...given)),
    };
    const stores = { ...relay.stores, table: untilCounted };
    const shown = await byClockOf(relay, () =>
      printed(() => parseRelay({ open: async () => targetOf({ ...relay, stores }) }, words), 'stopped'),
    );
    const numbers = [...shown.matchAll(/#(\d) opened/g)].map(([, number]) => number);
    expect(numbers).toEqual(place === 'first' ? ['2', '1'] : ['1', '2']);
  });

  it('relay jobs --follow shows each change once', async () => {
    await open(1);
    const known = await relay.jobs();
    const look = (looks: number) => follow(() => followJobs(relay.stores.table, {}, known, false, looks));
    expect(await look(2)).toBe('');
    relay.clock.now += 1_000;
    await open(2);
    relay.clock.now -= 1_000;
    expect((await look(2)).split('\n')).toEqual([expect.stringMatching(/succeeded .*#2 opened.* → created defect/)]);
    const asJson = await follow(() => followJobs(relay.stores.table, {}, known, true, 2));
    expect(JSON.parse(asJson)).toMatchObject({ status: 'succeeded', createdAt: '2026-11-20T10:00:01.000Z' });
  });

  it('relay jobs --follow shows no earlier job, and no change of a job that the filter leaves out', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 3_600 });
    for (let id = 1; id <= 30; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    expect(await relay.jobs('waiting')).toHaveLength(30);
    relay.clock.now += 1_000;
    const { table } = relay.stores;
    const { jobs } = await findJobs(table, { filter: {}, limit: 20, maxPages: 10, now: relay.clock.now });
    expect(await follow(() => followJobs(table, {}, jobs, false, 1))).toBe('');
    relay.clock.now -= 60_000;
    const whereTheClockIsLate = await follow(() => {
      relay.clock.now += 60_000;
      return followJobs(table, {}, jobs, false, 1);
    });
    expect(whereTheClockIsLate).toBe('');
    relay.sandbox.clearFaults();
    const changing = afterFirstLook(() => relay.workToTheEnd());
    expect(await follow(() => followJobs(changing, { statuses: ['parked'] }, [], false, 2))).toBe('');
    expect((await relay.jobs('succeeded')).length).toBe(30);
  });

  it("relay jobs --follow shows a new job even if this machine's clock is a minute ahead", async () => {
    await open(1);
    const known = await relay.jobs();
    relay.clock.now += 60_000;
    const changing = afterFirstLook(() => open(2));
    const shown = follow(() => followJobs(changing, {}, known, false, 2));
    relay.clock.now -= 59_000;
    expect(await shown).toMatch(/^.* succeeded .*#2 opened/);
  });

  it('relay jobs --ignored lists ignored events from the log, and skips other lines', async () => {
    const logFile = join(newFolder(), 'functions.log');
    const ignored = { message: 'delivery ignored', event: 'issues', deliveryId: 'd-1', reason: 'it is locked' };
    const line = JSON.stringify({ timestamp: '2026-11-20T10:00:00.000Z', ...ignored });
    const ofHook = { message: 'request ignored', hook: 'sentry', reason: 'resolved' };
    const hook = JSON.stringify({ timestamp: '2026-11-20T09:00:00.000Z', ...ofHook });
    writeFileSync(logFile, `${hook}\n${line}\n{"message":"job queued"}\n${line.slice(0, 60)}`);
    expect(await run(['jobs', '--ignored'], { logFile })).toMatch(
      /issues +d-1\n +→ it is locked\n.* hooks\/sentry *\n +→ resolved$/,
    );
    expect(JSON.parse(await run(['jobs', '--ignored', '--json'], { logFile }))).toMatchObject([
      { event: 'issues', deliveryId: 'd-1', reason: 'it is locked' },
      { event: 'hooks/sentry', reason: 'resolved' },
    ]);
    await expect(run(['jobs', '--ignored'], { stage: 'prod' })).rejects.toThrow(
      '/aws/lambda/partner-relay-prod-github-webhook',
    );
  });
});
