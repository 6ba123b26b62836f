import { command as onCommand } from 'partner-relay';
import { beforeEach, describe, expect, it } from 'vitest';
import { localTime } from '../../lib/dates.ts';
import { shortName } from '../../lib/engine/record/job.ts';
import type { CustomRun } from '../../lib/triggers/custom-automation.ts';
import { storeManyJobs } from '../console/many-jobs.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { command, PLATFORM } from '../slack-requests.ts';
import { runRelayOf } from './run-command.ts';

const HOUR = 3_600_000;
/** A time in the output of `--json`. */
const TIME = expect.stringMatching(/^2026-11-2\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const run = (...words: string[]) => runRelayOf(relay, words);

const defectsMade = () => relay.sandbox.audit.filter(({ status }) => status === 201).length;

async function open(count: number): Promise<void> {
  for (let id = 1; id <= count; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.work();
}

describe('relay resume', () => {
  it('relay resume ends a pause and continues waiting jobs at once', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 20 * 3_600, times: 1 });
    await open(3);
    expect(defectsMade()).toBe(0);
    const until = Date.parse('2026-11-21T06:00:00Z');
    expect(await run('budget')).toContain(`paused until ${localTime(until)}`);
    const strangers = { used: 0, endsAt: TIME };
    expect(JSON.parse(await run('budget', 'main', '--json'))).toMatchObject([
      { connection: 'main', pausedUntil: TIME, lanes: { interactive: { nextSlotAt: TIME } }, strangers },
    ]);

    const ended = `ended the pause, which would have lasted until ${localTime(until)}`;
    expect(await run('resume', 'main')).toBe(`${ended}\n3 waiting jobs continue`);
    await relay.work();
    expect(defectsMade()).toBe(3);
    expect(await run('resume', 'main')).toBe(
      'main is neither paused nor down. Jobs that wait for its budget continue by themselves',
    );
  });

  it('relay resume wakes a job that sleeps until the end of the pause, and no job that waits for something else', async () => {
    const later: CustomRun = async (_, { until }) => {
      await until('later', '2026-11-27T10:00:00Z');
      return 'done';
    };
    const on = onCommand('later', { does: 'waits', example: 'later' });
    relay = await startRelay({ own: { later: { on, run: later } } });
    await command(relay, 'later');
    await relay.work();
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 120, times: 1 });
    await open(1);
    await command(relay, 'task Paint the fence', { channelId: PLATFORM });
    await relay.work();
    const called = async () => (await relay.jobs('waiting')).filter(({ slotAt = 0 }) => slotAt > relay.clock.now);
    for (let looks = 0; looks < 10 && (await called()).length === 0; looks++) {
      relay.clock.now += 10_000;
      await relay.sweep();
    }
    expect(await called()).not.toEqual([]);
    expect(await run('resume', 'main')).toContain('2 waiting jobs continue');
    await relay.work();
    const [planned, ...others] = await relay.jobs('waiting');
    expect([planned?.automation, planned?.decisions, others]).toEqual(['later', undefined, []]);
  });

  it('relay resume closes the breakers of operations and of the connection', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
    await open(5);
    const failing = /defects\/create has been failing since \d.*the service answers 500: Server Error/;
    expect(await run('budget')).toMatch(failing);
    relay.sandbox.clearFaults();
    expect(await run('resume', 'main')).toMatch(
      /^the relay had stopped calls: defects\/create fails on main: .*\nThe relay sends calls again now\. /,
    );
    await relay.workToTheEnd();
    expect(defectsMade()).toBe(5);

    // A connection that has just worked does not count as down.
    relay.clock.now += 60_000;
    relay.sandbox.setFault({ kind: 'key-revoked' });
    for (const id of [7, 8, 9]) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    // One job is called for the next probe, and sleeps until then.
    const isCalled = async () => (await relay.jobs('waiting')).some(({ slotAt = 0 }) => slotAt > relay.clock.now);
    for (let look = 0; look < 20 && !(await isCalled()); look++) {
      relay.clock.now += 10_000;
      await relay.work();
      await relay.sweep();
    }
    expect(await isCalled()).toBe(true);
    relay.sandbox.clearFaults();
    expect(await run('resume', 'main')).toMatch(
      /^the relay had stopped calls: the service refuses the key of main: .*Unknown or revoked key/,
    );
    await relay.work();
    expect(defectsMade()).toBe(8);
  });

  it('a revoked key is named wherever a person looks, with the command that helps', async () => {
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await open(4);
    const [waiting] = await relay.jobs('waiting');
    const todo = /npx partner-relay secrets set partner\/main/;
    expect(await run('job', waiting?.id ?? '')).toMatch(todo);
    expect(await run('jobs')).toMatch(todo);
    const budget = await run('budget');
    expect(budget).toMatch(todo);
    const said = budget.match(/refused the key|can be sent now|jobs that wait/g);
    expect(said).toEqual(['refused the key', 'jobs that wait']);
    expect(JSON.stringify(await command(relay, 'status'))).toMatch(/has replaced Partner Relay's key/);
    relay.sandbox.clearFaults();
    relay.clock.now += 10 * 60_000;
    await relay.workToTheEnd();
    expect(defectsMade()).toBe(4);
    expect(await run('budget')).not.toMatch(todo);
  });

  it('a job in a stopped line continues with a probe, however late the probe is', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival' });
    await open(4);
    await relay.sweep();
    await relay.work();
    const probed = 'continues as soon as its calls work again';
    for (const later of [0, 10 * 60_000]) {
      relay.clock.now += later;
      const standing = (await relay.jobs('waiting')).filter(({ line }) => line !== undefined);
      expect(standing.length).toBeGreaterThan(0);
      for (const { id } of standing) expect(await run('job', id)).toContain(probed);
    }
  });

  it('a single operation that refuses the key does not count as a refused key', async () => {
    relay.sandbox.setFault({ kind: 'key-revoked', operation: '/items/complete' });
    await open(3);
    for (const [index, item] of [101, 102, 103].entries())
      await command(relay, `done ${item}`, { userId: `U0PERSON${index}`, triggerId: `trigger ${item}` });
    for (let run = 0; run < 6; run++) {
      await relay.work();
      relay.clock.now += 20_000;
    }
    expect(defectsMade()).toBe(3);
    expect(await run('budget')).not.toMatch(/refused the key/);
    expect(JSON.stringify(await command(relay, 'status'))).not.toMatch(/refuses the key/);
  });

  it('partner-relay replay continues a waiting job at once, even if its message sleeps', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
    await open(1);
    const [waiting] = await relay.jobs('waiting');
    relay.sandbox.clearFaults();
    await run('replay', waiting?.id ?? '');
    await relay.work();
    expect(await relay.jobs('succeeded')).toHaveLength(1);
  });
});

/** Makes jobs that are parked because the service refuses their defect. */
async function refused(count: number): Promise<void> {
  relay.sandbox.setFault({ kind: 'maintenance', status: 422, operation: '/defects/create', times: count });
  await open(count);
}

/** Makes this many jobs with an unknown outcome. @returns their ids */
async function unknown(count: number): Promise<string[]> {
  relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 4 });
  await open(count);
  await relay.workToTheEnd();
  const parked = await relay.jobs('parked');
  expect(parked).toHaveLength(count);
  return parked.map(({ id }) => id);
}

describe('relay resolve --done', () => {
  it('relay resolve --done refuses an id that the service does not have, and accepts an existing id', async () => {
    const [id = ''] = await unknown(1);
    const why = /the project has no defect with the id 'not-a-uuid'\. Nothing was changed/;
    await expect(run('resolve', id, '--done', 'not-a-uuid')).rejects.toThrow(why);
    expect(await relay.jobs('parked')).toHaveLength(1);

    const [defect] = relay.sandbox.data.defects;
    if (!defect) throw new Error('the sandbox has no defect');
    const { defect_id } = defect;
    // Without the marker, it may be any defect of the project. A person who knows better must say so in the service.
    const refused = await run('resolve', id, '--done', String(defect_id)).catch(String);
    const [marker = ''] = /\[partner-relay \w+\]/.exec(refused) ?? [];
    expect(refused).toContain(`does not contain ${marker}. Nothing was changed. If this job did create it, add`);
    defect.description += marker;
    const decided = await run('resolve', shortName(id), '--done', String(defect_id), '--json');
    expect(JSON.parse(decided)).toMatchObject([{ id, status: 'queued' }]);
    await relay.workToTheEnd();
    const [job] = await relay.jobs();
    expect(job).toMatchObject({ outcome: `created defect ${defect_id}` });
    expect(job?.decisions?.newest).toMatchObject([{ what: 'resolved with an id', reason: `created ${defect_id}` }]);
  });

  it('refuses an object that another job created', async () => {
    const [id = ''] = await unknown(1);
    relay.sandbox.clearFaults();
    await relay.post('issues', issueEvent('opened', { id: 2 }));
    await relay.workToTheEnd();
    const { defect_id } = relay.sandbox.data.defects.at(-1) ?? {};
    await expect(run('resolve', id, '--done', String(defect_id))).rejects.toThrow(/belongs to another job/);
    expect(await relay.jobs('parked')).toHaveLength(1);
  });
});

describe('relay discard', () => {
  it('--parked-for lists the jobs first, and ends them with the reason', async () => {
    await refused(2);
    const words = ['discard', '--parked-for', 'status 422', '--reason', 'a test'];
    expect(await run(...words)).toMatch(/Add --yes to discard these 2 jobs\.$/);
    const [job] = await relay.jobs();
    await expect(run('discard', job?.id ?? '', '--reason', ' ')).rejects.toThrow('a discarded job needs a reason');
    await run(...words, '--yes');
    await relay.workToTheEnd();
    const discarded = { status: 'not-done', outcome: 'discarded: a test' };
    expect(await relay.jobs()).toMatchObject([discarded, discarded]);
    expect(await run('job', (await relay.jobs())[0]?.id ?? '')).toMatch(/status +discarded: .*discarded by \S+: /s);
  });
});

it('partner-relay replay --parked-for lists the jobs with --json, replays none, and prints the jobs that it replays', async () => {
  await refused(1);
  const listed = JSON.parse(await run('replay', '--parked-for', 'status 422', '--json'));
  expect(listed).toMatchObject([{ status: 'parked', createdAt: TIME }]);
  expect(await relay.jobs('parked')).toHaveLength(1);
  const decisions = { newest: [{ at: TIME, what: 'replayed' }] };
  const replayed = JSON.parse(await run('replay', listed[0].id, '--json'));
  expect(replayed).toMatchObject([{ status: 'queued', queuedAt: TIME, decisions }]);
});

describe('what a person can do next', () => {
  it('with an unknown outcome, relay job says to resolve it, and not to replay it', async () => {
    const [id = ''] = await unknown(1);
    const early = await run('job', id);
    expect(early).toContain(`resolve ${id} --done`);
    for (const later of [`resolve ${id} --again`, `discard ${id}`])
      expect(early).toMatch(new RegExp(`${later}.* \\(from .*\\)`));
    relay.clock.now += HOUR;
    const shown = await run('job', id);
    for (const way of ['--done', '--again', '--search']) expect(shown).toContain(`resolve ${id} ${way}`);
    expect(shown).not.toContain('replay');
    expect(shown).toContain('the same request sent again');
    expect(shown).toMatch(/asked defects\/list: answered with 200/);
  });

  it.each([
    ['resume other', "relay.config.ts has no connection 'other'; there is only main"],
    ['replay --parked-for such', /^no job is parked .*for a reason that contains 'such'/],
    ['resolve --parked-for such --search', /^no job is parked .*for a reason that contains 'such'/],
    ['discard --parked-for such --reason none', /^no job is parked .*for a reason that contains 'such'/],
    ['resolve --search', 'name a job, or choose jobs with --parked-for'],
    ['resolve --parked-for x', 'use exactly one of --done <created id>, --again and --search'],
    ['resolve --parked-for x --done 7', '--done takes the id of one creation'],
  ])('relay %s is refused with what to do', async (words, why) => {
    await expect(run(...words.split(' '))).rejects.toThrow(why);
  });
});

it('partner-relay replay --parked-for finds its jobs behind a thousand others', async () => {
  await refused(1);
  relay.clock.now += HOUR;
  await storeManyJobs(relay, 7_100);
  await run('replay', '--parked-for', 'an HTML page', '--yes');
  await relay.workToTheEnd();
  expect(defectsMade()).toBe(1);
}, 30_000);

describe('relay resolve', () => {
  it('relay resolve --parked-for lists the jobs first, and searches for all of them with one reading', async () => {
    const ids = await unknown(2);
    const early = ['resolve', '--parked-for', 'has its marker', '--again'];
    const until = /A job is refused while the service may still .*: the last one until (2026-.* UTC)\.$/;
    const [, time = ''] = until.exec(await run(...early)) ?? [];
    await expect(run(...early, '--yes')).rejects.toThrow(`has to wait until ${time}`);
    expect(await run('discard', '--parked-for', 'has its marker', '--reason', 'a test')).toMatch(until);
    relay.clock.now += HOUR;

    const listed = await run('resolve', '--parked-for', 'has its marker', '--search');
    for (const id of ids) expect(listed).toContain(shortName(id));
    expect(listed).toMatch(/Add --yes to resolve these 2 jobs\.$/);
    expect(await relay.jobs('parked')).toHaveLength(2);

    const before = relay.sandbox.requests;
    await run('resolve', '--parked-for', 'has its marker', '--search', '--yes');
    await relay.workToTheEnd();
    expect(relay.sandbox.requests - before).toBe(1);
    expect(await relay.jobs('parked')).toHaveLength(2);

    await run('resolve', '--parked-for', 'has its marker', '--again', '--yes');
    await relay.workToTheEnd();
    expect(await relay.jobs('parked')).toEqual([]);
    expect(defectsMade()).toBe(2);
  });

  it('relay resolve --search refuses a job that is parked for another reason', async () => {
    await refused(1);
    const [job] = await relay.jobs();
    await expect(run('resolve', job?.id ?? '', '--search')).rejects.toThrow(
      'cannot be resolved: its outcome is known. The service refused the call. Correct what the reason names',
    );
    expect(await relay.jobs()).toEqual([job]);
  });
});
