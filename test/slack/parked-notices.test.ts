import { beforeEach, describe, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { causeOf } from '../../lib/engine/operate/parked-groups.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { blockKitFaults } from '../../local/slack/block-kit.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, MIRA, PLATFORM, readable } from '../slack-requests.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let relay: TestRelay;
const start = async (stage = 'local') => {
  const config = { ...exampleConfig({ projectId: crypto.randomUUID() }), contactChannel: PLATFORM };
  relay = await startRelay({ config, environment: { STAGE: stage } });
};
beforeEach(() => start());

const notices = () => relay.slack.messages.filter(({ channel }) => channel === PLATFORM);
const texts = () => notices().map(({ blocks }) => readable(blocks));

let number = 0;

/** Parks a job for each reason. @returns their ids */
async function park(...reasons: string[]): Promise<string[]> {
  const { jobs } = relay.stores;
  const ids = [];
  for (const reason of reasons) {
    const id = `a-job-${++number}`;
    const about = { automation: 'none', connection: 'main', lane: 'background', entity: id } as const;
    await jobs.store({ ...about, id, summary: `acme/web#${number} opened`, input: {} });
    const job = await jobs.claim(id, 1, 'a worker', relay.clock.now + MINUTE);
    if ('unclaimed' in job) throw new Error('the job should have been claimed');
    await jobs.park(job, { reason, kind: 'needs an operator' });
    ids.push(id);
  }
  return ids;
}

async function sweepAfter(ms: number): Promise<void> {
  relay.clock.now += ms;
  await relay.sweep();
}
/** Sweeps once a minute. */
async function sweeps(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) await sweepAfter(MINUTE);
}

describe('the notice of parked jobs', () => {
  it('a refused job is reported once in the contact channel, with what to do', async () => {
    await relay.post('issues', issueEvent('opened', { title: '<!channel> *bold*' }));
    await relay.work();
    const [job] = await relay.jobs('parked');
    const calls = relay.sandbox.requests;
    await sweeps(3);
    expect(texts()).toEqual([
      expect.stringMatching(
        /A job has been parked since <!date.*\n• .*opened: <!channel> \*bold\*\nReason: .*\nThe service refused the call\. Correct what the reason names, .*\. Then replay the job, or discard it\./,
      ),
    ]);
    expect(texts()[0]).toContain(`npx partner-relay replay ${job?.id}`);
    expect(texts()[0]).toContain('See docs/stuck.md#refused.');
    expect(blockKitFaults(notices()[0]?.blocks)).toEqual([]);
    expect(relay.sandbox.requests).toBe(calls);
    expect((await relay.jobs('parked'))[0]).toEqual(job);
  });

  it('names the person and the task, if they are known', async () => {
    const task = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
    await ask(relay, `log 15m ${task}`, { userId: MIRA });
    relay.sandbox.setFault({ kind: 'server-error', operation: '/timelogs/create' });
    await command(relay, `log 30m ${task}`, { userId: MIRA });
    await relay.workToTheEnd();
    await sweepAfter(MINUTE);
    expect(texts().join('\n')).toContain('• Mira Novak: Log 30m on Login with passkeys\n');
  });

  it('the command of a notice names the stage', async () => {
    await start('prod');
    const [id] = await park('no such project');
    await relay.sweep();
    expect(texts()[0]).toContain(`npx partner-relay --stage prod replay ${id}`);
  });

  it('many jobs with one cause are one message, which counts them', async () => {
    await park(...Array.from({ length: 8 }, (_, index) => `defect ${index} of 'project ${index}' is unknown`));
    await sweepAfter(MINUTE);
    await park(...Array.from({ length: 4 }, (_, index) => `defect ${index} of 'project' is unknown`));
    await sweepAfter(MINUTE);
    expect(texts()).toEqual([
      expect.stringMatching(/12 jobs have been parked \*?since.*\n(• acme.*\n){3}• and 9 more\n/),
    ]);
    expect(relay.slack.calls.map(({ method }) => method)).toEqual(['chat.postMessage', 'chat.update']);
  });

  it('many causes in one hour are one message, with the rest together', async () => {
    const letters = 'abcdefghijklmnopqrst';
    await park(...[...letters].map((letter) => `cause ${letter} ${'long '.repeat(1_000)}`));
    await sweepAfter(MINUTE);
    expect(texts()).toEqual([expect.stringMatching(/20 jobs have been parked.*Other causes:/s)]);
    expect(texts()[0]?.match(/^Reason: cause/gm)).toHaveLength(7);
    expect(texts()[0]).toContain('• and 10 more');
    expect(blockKitFaults(notices()[0]?.blocks)).toEqual([]);
    expect(JSON.stringify(notices()[0]?.blocks).length).toBeLessThan(13_000);
  });

  it('a job that is parked after another was replayed, within the hour and for the same cause, is reported, too', async () => {
    const [first = ''] = await park('no such project');
    await sweepAfter(MINUTE);
    const job = await relay.stores.jobs.get(first);
    if (job) await relay.stores.jobs.requeue(job);
    await park('no such project');
    await sweepAfter(MINUTE);
    expect(texts()).toEqual([expect.stringContaining(`acme/web#${number} opened`)]);
  });

  it('once all of its jobs are decided, it offers no command, and says what was decided, and by whom', async () => {
    const ids = await park('no such project', 'no such user', 'no such task');
    const parkedAt = relay.clock.now;
    await sweepAfter(MINUTE);
    const [replayed, discarded, other] = (await relay.jobs('parked')).sort(
      (a, b) => ids.indexOf(a.id) - ids.indexOf(b.id),
    );
    if (!replayed || !discarded || !other) throw new Error('expected three jobs');
    const stores = { ...relay.stores, clock: () => relay.clock.now };
    const decision = { at: relay.clock.now, by: 'mira', what: 'replayed' } as const;
    await requeueJob(replayed, stores, decision);
    await discardJob(discarded, { by: 'tomasz', reason: 'a *duplicate*' }, stores);
    await sweepAfter(MINUTE);
    const decided = `Decided:\n• ${replayed.summary}: replayed by mira\n• ${discarded.summary}: discarded by tomasz: a *duplicate*`;
    expect(texts()).toEqual([expect.stringContaining(`A job has been parked since <!date^${parkedAt / 1000}^`)]);
    expect(texts()[0]).toContain(decided);
    expect(texts()[0]).toContain(`replay ${other.id}`);
    expect(texts()[0]).not.toContain(replayed.id);
    await sweepAfter(3 * HOUR);
    await requeueJob(other, stores, decision);
    const updates = relay.slack.calls.length;
    await sweeps(3);
    expect(texts()).toEqual([
      `:white_check_mark: None of the jobs of this message is parked any more.\n${decided}\n• ${other.summary}: replayed by mira`,
    ]);
    expect(relay.slack.calls.length).toBe(updates + 1);
    expect(blockKitFaults(notices()[0]?.blocks)).toEqual([]);
  });

  it('says that more jobs were decided than it can count', async () => {
    const [id = ''] = await park('no such project');
    await relay.sweep();
    const key = keys.parkedNotice(new Date(Math.floor(relay.clock.now / HOUR) * HOUR).toISOString());
    const many = [id, ...Array.from({ length: 1_999 }, (_, index) => `expired-${index}`)];
    const { table, jobs } = relay.stores;
    await table.put({ ...(await table.get(key)), ...key, jobs: many });
    const job = await jobs.get(id);
    if (job) await jobs.requeue(job);
    await sweepAfter(MINUTE);
    expect(texts()[0]).toContain('• and more than 1990 more');
  });

  it("a decision is shown once the app's token is valid again", async () => {
    await park('no such project');
    await relay.sweep();
    const [job = expect.fail('expected a job')] = await relay.jobs('parked');
    await discardJob(job, { by: 'tomasz', reason: 'a duplicate' }, { ...relay.stores, clock: () => relay.clock.now });
    relay.slack.fail({ method: 'chat.update', kind: 'error', error: 'token_revoked', times: 2 });
    await sweeps(3);
    expect(texts()).toEqual([expect.stringContaining('None of the jobs of this message is parked')]);
  });

  // Events, and the milliseconds after which the sweep runs.
  it.each<[string, (number | 'park' | 'fail')[], number]>([
    ['every hour has its own, to its last second', [HOUR - 1, 'park', 1 + MINUTE, 'park', 11 * MINUTE, HOUR], 2],
    ['it comes late rather than never, if the sweep stood still', [0, 'park', 70 * HOUR], 1],
    ['a later sweep tells it if the first failed', [HOUR - 1, 'park', 'fail', 4.5 * MINUTE, MINUTE, 2 * MINUTE], 1],
  ])('a notice is posted in its hour or later: %s', async (_, history, count) => {
    for (const what of history) {
      if (what === 'park') await park('no such project');
      else if (what === 'fail') relay.slack.fail({ method: 'chat.postMessage', kind: 'cut', when: 'before work' });
      else await sweepAfter(what);
    }
    expect(texts()).toHaveLength(count);
  });

  it.each([
    ['Slack refuses it', { kind: 'error', error: 'channel_not_found', times: 2 }, 3],
    ['Slack wants fewer calls', { kind: 'rate-limited' }, 2],
    ['Slack is down', { kind: 'server-error', when: 'before work' }, 4],
    ['the answer is lost', { kind: 'cut', when: 'after work' }, 4],
  ] as const)('a notice is posted once, later, if %s', async (_, failure, minutes) => {
    relay.slack.fail({ method: 'chat.postMessage', ...failure });
    const ids = await park('no such project');
    await sweeps(minutes);
    expect(texts()).toEqual([expect.stringContaining('no such project')]);
    expect(relay.log).toContainEqual(
      expect.objectContaining({ message: 'the contact channel could not be told about parked jobs' }),
    );
    expect((await relay.jobs('parked')).map(({ id }) => id)).toEqual(ids);
  });

  it('two simultaneous sweeps report it once', async () => {
    await park('no such project');
    await Promise.all([relay.sweep(), relay.sweep()]);
    expect(texts()).toHaveLength(1);
  });

  it('a message that a person deleted does not come back', async () => {
    await park('no such project');
    await relay.sweep();
    relay.slack.messages.length = 0;
    await park('no such project');
    await sweepAfter(MINUTE);
    await sweepAfter(MINUTE);
    expect(relay.slack.calls.map(({ method }) => method)).toEqual(['chat.postMessage', 'chat.update']);
  });
});

describe('the cause of parked jobs', () => {
  it.each([
    ["relay.config.ts has no connection 'main'", "relay.config.ts has no connection 'old-one'"],
    ['defect a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b01 is gone', 'defect 0a5d1f0e-aaaa-4e95-b07d-5d2c9e6f3b02 is gone'],
    ['tasks/search: the service answers 503 (8 attempts)', 'defects/create: the service answers 503 (8 attempts)'],
    ['tasks/search: the service answers 503', 'main is down: the service answers 503'],
    ['stopped since 2026-11-20T10:00:00.000Z (8 attempts)', 'stopped since 2026-11-21T10:12:00.000Z (9 attempts)'],
  ])('%s is the same cause as %s', (one, other) => {
    expect(causeOf(one)).toBe(causeOf(other));
  });

  it.each(['tasks/list: refused with status 404', 'relay.config.ts: no project', 'defects/create of a/b'])(
    'a refusal, or text that is no operation, is part of the cause: %s',
    (reason) => {
      expect(causeOf(reason)).toBe(reason);
    },
  );

  it.each(['the service answered with status 500', 'the service answers 500: Server Error', 'Slack refused it (500)'])(
    'an HTTP status is part of the cause: %s',
    (reason) => {
      expect(causeOf(reason)).toContain('500');
    },
  );
});
