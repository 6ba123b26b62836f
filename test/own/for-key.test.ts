import { join } from 'node:path';
import { github, type Run, token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { describe, expect, it } from 'vitest';
import { jobsInWords } from '../../cli/plan.ts';
import { customGroup } from '../../lib/engine/line/queue.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { runTest } from '../../local/trial/run-test.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { runRelayOf } from '../cli/run-command.ts';
import { issueEvent } from '../issue-events.ts';
import { customOf, exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import type { Failure } from '../slack-that-fails.ts';

let relay: TestRelay | undefined;
const LOST: Fault = { kind: 'cut', when: 'after work' };
const NEVER_THERE: Fault = { kind: 'cut', when: 'on arrival' };

describe('an incident of a tool that monitors', () => {
  const on = webhook({
    verify: token({ header: 'x-token' }),
    body: z.object({ incident: z.string(), status: z.string(), at: z.string() }),
    input: { incident: z.string(), status: z.string() },
    job: ({ incident, status, at }) => ({ happened: [incident, at], entity: incident, input: { incident, status } }),
  });
  const run: Run<typeof on> = async ({ incident, status }, { call, create, found, letGo, say }) => {
    const open = await found('defect', incident);
    await say('alert', { channel: 'C0PLATFORM' }, `${incident} is ${status}`, { for: incident });
    if (status === 'firing') {
      const { id } = await create(
        'defect',
        'defects/create',
        { project_id: PROJECT, title: incident, description: 'It fires' },
        { for: incident },
      );
      if (open !== undefined) await call('again', 'defects/update', { defect_id: id, priority: 'High' });
      return `${open === undefined ? 'created' : 'updated'} defect ${id}`;
    }
    await letGo('alert', incident);
    if (open === undefined) return 'nothing was open';
    await call('close', 'defects/update', { defect_id: open, title: `Resolved: ${incident}` });
    await letGo('defect', incident);
    return `closed defect ${open}`;
  };
  const told = (incident: string, ...all: string[]) =>
    all.map((status, index) => ({ hook: 'incident', body: { incident, status, at: String(index) } }));

  it('is one defect until it is resolved, and then another one, also after kills and lost answers', async () => {
    const [last, ...before] = [
      ...told('CPU', 'firing', 'firing', 'resolved', 'firing'),
      ...told('Disk', 'firing'),
    ].reverse();
    const test = {
      before: before.reverse(),
      event: last ?? expect.fail(),
      makes: { 'defects/create': { title: 'Disk' } },
      says: ['Disk is firing'],
      holds: { defects: [{ title: 'Resolved: CPU', priority: 'High' }, { title: 'CPU' }, { title: 'Disk' }] },
    };
    const config = exampleConfig();
    expect(await runTest(test, config, join(import.meta.dirname), customOf({ incident: { on, run } }, config))).toEqual(
      [],
    );
  });
});

type Act = (steps: Steps) => Promise<string>;
let acts: Map<number, Act>;

/** A relay whose job of the issue `n` runs `acts.get(n)`. */
async function start(options: TestRelayOptions = {}): Promise<TestRelay> {
  acts = new Map();
  const on = github('issues.opened', {
    input: { id: z.number() },
    job: ({ issue: { number } }) => ({ happened: [number], entity: `issue ${number}`, input: { id: number } }),
  });
  const run: Run<typeof on> = async ({ id }, steps) => (await acts.get(id)?.(steps)) ?? 'nothing';
  const started = await startRelay({
    own: { mine: { on, run } },
    config: exampleConfig({ comment: false }),
    ...options,
  });
  relay = started;
  return started;
}

/** The job of an issue, which does this. */
async function open(id: number, act: Act): Promise<void> {
  acts.set(id, act);
  await relay?.post('issues', issueEvent('opened', { id, labels: [] }));
}
async function job(id: number): Promise<Job> {
  return (await relay?.jobs())?.find(({ entity }) => entity === `issue ${id}`) ?? expect.fail(`no job of ${id}`);
}
const PAYLOADS = {
  'defects/create': { title: 'Down', description: 'It fires' },
  'tasks/create': { name: 'Down' },
} as const;
type Creation = keyof typeof PAYLOADS;
const creates =
  (operation: Creation = 'defects/create', key = 'alert 1'): Act =>
  async ({ create }) => {
    const { id } = await create('it', operation, { project_id: PROJECT, ...PAYLOADS[operation] }, { for: key });
    return `it is ${id}`;
  };
const things = () =>
  [...(relay?.sandbox.data.defects ?? []), ...(relay?.sandbox.data.tasks ?? [])].filter(
    (one) => Object(one).title === 'Down' || Object(one).name === 'Down',
  );
/** The first run of a job claims the key, and stops before it keeps a request. */
async function stopClaimed(id: number, act: Act): Promise<void> {
  relay?.table.stopAt((input) => input.includes('request#'));
  await open(id, act);
  await relay?.work().catch(() => {});
  relay?.table.goOn();
}
const idOf = (thing: object | undefined) => Object(thing).defect_id ?? Object(thing).task_id;

describe('two jobs with one name and key', () => {
  it('get the same id', async () => {
    const { workToTheEnd } = await start();
    await open(1, creates());
    await open(2, async ({ create }) => {
      const other = { project_id: PROJECT, title: 'Another title' };
      return `it is ${(await create('it', 'defects/create', other, { for: 'alert 1' })).id}`;
    });
    await workToTheEnd();
    expect(things()).toHaveLength(1);
    const outcome = `it is ${idOf(things()[0])}`;
    expect([await job(1), await job(2)]).toMatchObject([{ outcome }, { outcome }]);
    expect(relay?.sandbox.data.defects.map(({ title }) => title)).not.toContain('Another title');
  });

  it('make two for other keys', async () => {
    const { workToTheEnd } = await start();
    await open(1, creates());
    await open(2, creates('defects/create', 'alert 2'));
    await workToTheEnd();
    expect(things()).toHaveLength(2);
  });

  it('wait for each other while an answer is open, and `found` waits too', async () => {
    const { workToTheEnd, work, sandbox } = await start();
    sandbox.setFault({ ...LOST, operation: '/defects/create', times: 1 });
    sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 100, operation: '/defects/create', skip: 1, times: 1 });
    await open(1, creates());
    await work();
    expect(await job(1)).toMatchObject({ status: 'waiting' });
    await open(2, creates());
    await open(3, async ({ found }) => `it is ${await found('it', 'alert 1')}`);
    await work();
    const waits = { newest: [{ for: 'job', why: expect.stringContaining((await job(1)).id) }] };
    expect([await job(2), await job(3)]).toMatchObject([
      { status: 'waiting', waits },
      { status: 'waiting', waits },
    ]);
    await workToTheEnd();
    expect(things()).toHaveLength(1);
    const outcome = `it is ${idOf(things()[0])}`;
    expect([await job(1), await job(2), await job(3)]).toMatchObject([{ outcome }, { outcome }, { outcome }]);
  });

  it('with different operations park', async () => {
    const { workToTheEnd } = await start();
    await open(1, creates('defects/create'));
    await open(2, creates('tasks/create'));
    await workToTheEnd();
    expect(await job(2)).toMatchObject({
      status: 'parked',
      parked: { reason: expect.stringContaining('another name') },
    });
  });

  it('with different operations continue if nothing was sent', async () => {
    const { workToTheEnd } = await start();
    await stopClaimed(1, creates('tasks/create'));
    acts.set(1, creates('defects/create'));
    await workToTheEnd();
    expect(await job(1)).toMatchObject({ outcome: `it is ${idOf(things()[0])}` });
  });

  it('make two if the first comes with another key in its next run', async () => {
    const { workToTheEnd } = await start();
    await stopClaimed(1, creates());
    acts.set(1, creates('defects/create', 'alert 2'));
    await workToTheEnd();
    await open(2, creates());
    await workToTheEnd();
    expect([await job(1), await job(2)]).toMatchObject(things().map((one) => ({ outcome: `it is ${idOf(one)}` })));
    expect(things()).toHaveLength(2);
  });

  it('make one if the code of the first gave no key', async () => {
    const { work, workToTheEnd } = await start();
    const waits =
      (of?: { for: string }): Act =>
      async ({ create, until }) => {
        const payload = { project_id: PROJECT, ...PAYLOADS['defects/create'] };
        const { id } = of
          ? await create('it', 'defects/create', payload, of)
          : await create('it', 'defects/create', payload);
        await until('later', '2026-11-20T12:00:00Z');
        return `it is ${id}`;
      };
    await open(1, waits());
    await work();
    acts.set(1, waits({ for: 'alert 1' }));
    await workToTheEnd();
    await open(2, creates());
    await workToTheEnd();
    const outcome = `it is ${idOf(things()[0])}`;
    expect([await job(1), await job(2)]).toMatchObject([{ outcome }, { outcome }]);
  });

  it('come after a refusal to what the first did not make', async () => {
    const { workToTheEnd } = await start();
    await open(1, async ({ create }) => {
      const { id } = await create('it', 'defects/create', { project_id: 'no project' }, { for: 'alert 1' });
      return `it is ${id}`;
    });
    await workToTheEnd();
    expect(await job(1)).toMatchObject({ status: 'parked', parked: { kind: 'refused' } });
    await open(2, creates());
    await workToTheEnd();
    expect(await job(2)).toMatchObject({ outcome: `it is ${idOf(things()[0])}` });
  });
});

it('what was made for a key is found again after the table was lost, however late the next job comes', async () => {
  const { workToTheEnd, clock } = await start();
  await open(1, creates());
  await workToTheEnd();
  (relay ?? expect.fail()).replaceTable([]);
  clock.now += 30 * 86_400_000;
  await open(2, creates());
  await open(3, creates('defects/create', 'alert 2'));
  await workToTheEnd();
  expect([await job(2), await job(3)]).toMatchObject(things().map((one) => ({ outcome: `it is ${idOf(one)}` })));
  expect(things()).toHaveLength(2);
});

describe('a job whose creation has no clear answer', () => {
  /** What it made shows up once it is parked, if at all. */
  async function parked(operation: Creation, isMade: boolean): Promise<string> {
    const { sandbox, workToTheEnd } = await start();
    sandbox.setFault({ ...(isMade ? LOST : NEVER_THERE), operation: `/${operation}` });
    await open(1, creates(operation));
    if (isMade && operation === 'defects/create') {
      await relay?.work();
      const [made] = sandbox.data.defects.splice(-1);
      await workToTheEnd();
      if (made) sandbox.data.defects.push(made);
    } else await workToTheEnd();
    sandbox.clearFaults();
    const { id, parked: why } = await job(1);
    expect(why).toMatchObject({ kind: 'outcome unknown' });
    if (relay) relay.clock.now += 3_600_000;
    return id;
  }
  const decide = async (...words: string[]) => {
    await runRelayOf(relay ?? expect.fail(), words);
    await relay?.workToTheEnd();
  };
  const next = async (id: number, operation: Creation) => {
    await open(id, creates(operation));
    await relay?.workToTheEnd();
    return job(id);
  };
  const made = () => ({ status: 'succeeded', outcome: `it is ${idOf(things()[0])}` });

  it.each(['parked', 'discarded'])('and is %s is followed by a search, which finds what it made', async (how) => {
    const id = await parked('defects/create', true);
    if (how === 'discarded') await decide('discard', id, '--reason', 'test');
    expect(await next(2, 'defects/create')).toMatchObject(made());
    if (how === 'parked') await decide('replay', id);
    if (how === 'parked') expect(await job(1)).toMatchObject(made());
    expect(things()).toHaveLength(1);
  });

  it.each(['parked', 'discarded'])('and is %s leaves it to a person if the search finds nothing', async (how) => {
    const id = await parked('defects/create', false);
    if (how === 'discarded') await decide('discard', id, '--reason', 'test');
    const other = await next(2, 'defects/create');
    expect(other).toMatchObject({ status: 'parked', parked: { kind: 'outcome unknown' } });
    expect(things()).toHaveLength(0);
    if (how === 'parked') await decide('resolve', id, '--again');
    await decide('resolve', other.id, '--again');
    expect(await job(2)).toMatchObject(made());
    expect(await next(3, 'defects/create')).toMatchObject(made());
    if (how === 'parked') expect(await job(1)).toMatchObject(made());
    expect(things()).toHaveLength(1);
  });

  it('that nothing can search for has to be decided before others continue', async () => {
    const id = await parked('tasks/create', true);
    const other = await next(2, 'tasks/create');
    expect(other.parked).toMatchObject({
      kind: 'needs an operator',
      reason: expect.stringContaining(`npx partner-relay resolve ${id}`),
    });
    await decide('resolve', id, '--done', idOf(things()[0]));
    await decide('replay', other.id);
    expect([await job(1), await job(2)]).toMatchObject([made(), made()]);
  });

  it.each(['--done', '--again'])(
    'that nothing can search for is decided with the next job once it is discarded: %s',
    async (how) => {
      const id = await parked('tasks/create', how === '--done');
      await decide('discard', id, '--reason', 'test');
      const other = await next(2, 'tasks/create');
      expect(other).toMatchObject({ status: 'parked', parked: { kind: 'outcome unknown' } });
      await decide('resolve', other.id, ...(how === '--done' ? [how, idOf(things()[0])] : [how]));
      expect([await job(2), await next(3, 'tasks/create')]).toMatchObject([made(), made()]);
      expect(things()).toHaveLength(1);
    },
  );

  it('is settled by `found`, and a plan knows what that took', async () => {
    await parked('defects/create', true);
    const { sandbox, runtime, stores, workToTheEnd } = relay ?? expect.fail();
    sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 3_600, operation: '/tasks/list' });
    await open(2, async ({ found, call }) => {
      const id = await found('it', 'alert 1');
      await call('read', 'tasks/list', { project_id: PROJECT });
      return `it is ${id}`;
    });
    await workToTheEnd(600_000);
    expect((await jobsInWords(runtime.custom, runtime.config, stores, 'local')).join()).toContain('2 as before');
  });

  it('is made by a job that looked for it first, once a person has decided', async () => {
    await parked('defects/create', false);
    await open(2, async (steps) => {
      const id = await steps.found('it', 'alert 1');
      return `${id}: ${await creates()(steps)}`;
    });
    await relay?.workToTheEnd();
    await decide('resolve', (await job(2)).id, '--again');
    expect(await job(2)).toMatchObject({ status: 'succeeded', outcome: `undefined: it is ${idOf(things()[0])}` });
    expect(things()).toHaveLength(1);
  });

  it.each<Creation>(['defects/create', 'tasks/create'])(
    'of %s is settled or parked by `found`, too',
    async (operation) => {
      const id = await parked(operation, true);
      const finds: Act = async ({ found }) => `it is ${await found('it', 'alert 1')}`;
      await open(2, finds);
      await relay?.workToTheEnd();
      if (operation === 'tasks/create') {
        expect((await job(2)).parked).toMatchObject({ reason: expect.stringContaining(id) });
        await decide('discard', id, '--reason', 'test');
        await decide('replay', (await job(2)).id);
        expect((await job(2)).parked).toMatchObject({ kind: 'outcome unknown' });
        await decide('resolve', (await job(2)).id, '--done', idOf(things()[0]));
      }
      expect([await job(2), await next(3, operation)]).toMatchObject([made(), made()]);
      expect(things()).toHaveLength(1);
    },
  );
});

describe('what is let go', () => {
  const ends: Act = async ({ letGo }) => {
    await letGo('it', 'alert 1');
    return 'ended it';
  };
  const itemOf = (turn: number) => (input: string) =>
    input.includes('made#') && input.includes(`"turn":{"N":"${turn}"`);

  it('is created again by the next job', async () => {
    const { workToTheEnd } = await start();
    for (const [id, act] of [creates(), ends, ends, creates(), creates()].entries()) {
      await open(id + 1, act);
      await workToTheEnd();
    }
    const [first, second] = things().map(idOf);
    expect(await Promise.all([1, 4, 5].map(job))).toMatchObject([
      { outcome: `it is ${first}` },
      { outcome: `it is ${second}` },
      { outcome: `it is ${second}` },
    ]);
    expect(things()).toHaveLength(2);
  });

  it('is found by the newest if the table was lost', async () => {
    const { workToTheEnd } = await start();
    for (const [id, act] of [creates(), ends, creates(), ends, creates()].entries()) {
      await open(id + 1, act);
      await workToTheEnd();
    }
    relay?.replaceTable([]);
    for (const [id, act] of [creates(), ends, creates()].entries()) {
      await open(id + 6, act);
      await workToTheEnd();
    }
    const [, , third, fourth] = things().map(idOf);
    expect([await job(6), await job(8)]).toMatchObject([{ outcome: `it is ${third}` }, { outcome: `it is ${fourth}` }]);
  });

  it.each<[string, Act]>([
    ['found', async ({ found }) => String(await found('it', 'alert 1'))],
    ['created', creates()],
  ])('is not what others have made since the job %s it', async (_, sees) => {
    const { work, workToTheEnd } = await start();
    await open(1, creates());
    await work();
    await open(2, async (steps) => {
      await sees(steps);
      await steps.until('later', '2026-11-20T12:00:00Z');
      return ends(steps);
    });
    await work();
    await open(3, ends);
    await work();
    await open(4, creates());
    await workToTheEnd();
    await open(5, creates());
    await workToTheEnd();
    expect(await job(5)).toMatchObject({ outcome: (await job(4)).outcome });
    expect(things()).toHaveLength(2);
  });

  it('is not what others have made since, if the job stopped before it let it go', async () => {
    const { work, workToTheEnd, table } = await start();
    await open(1, creates());
    await work();
    table.stopAt(itemOf(1));
    await open(2, ends);
    await work().catch(() => {});
    table.goOn();
    // The group of the second job is held up by its message.
    const groupOf = (id: number) => customGroup(`mine issue ${id}`);
    const [end = 0, create = 0] = [3, 4, 5, 6, 7, 8, 9].filter((id) => groupOf(id) !== groupOf(2));
    await open(end, ends);
    await work();
    await open(create, creates());
    await work();
    expect(things()).toHaveLength(2);
    await workToTheEnd();
    expect(await job(2)).toMatchObject({ status: 'succeeded' });
    await open(10, creates());
    await workToTheEnd();
    expect(await job(10)).toMatchObject({ outcome: `it is ${idOf(things()[1])}` });
    expect(things()).toHaveLength(2);
  });
});

describe('a message for a key', () => {
  const says =
    (text: string): Act =>
    async ({ say }) => {
      await say('alert', { channel: 'C0PLATFORM' }, text, { for: 'alert 1' });
      return `said ${text}`;
    };
  const ends: Act = async ({ letGo }) => `ended ${await letGo('alert', 'alert 1')}`;
  const texts = () => relay?.slack.messages.map(({ text }) => text);

  it('is posted once, and changed by later jobs, until it is released', async () => {
    const { workToTheEnd } = await start();
    for (const [id, act] of [says('It fires'), says('It is over'), ends, says('It fires again')].entries()) {
      await open(id + 1, act);
      await workToTheEnd();
    }
    expect(texts()).toEqual(['It is over', 'It fires again']);
  });

  it('keeps the text of a newer event', async () => {
    const { workToTheEnd, clock } = await start();
    const at = clock.now + 300_000;
    await open(1, async (steps) => {
      await steps.until('later', at);
      return says('It fires')(steps);
    });
    clock.now += 1_000;
    await open(2, says('It is over'));
    await workToTheEnd();
    expect(await job(1)).toMatchObject({ status: 'succeeded' });
    expect(texts()).toEqual(['It is over']);
  });

  it.each<[string, Partial<Failure>]>([
    ['answer is lost', { kind: 'cut', when: 'after work' }],
    ['request is lost', { kind: 'cut', when: 'before work' }],
    ['channel is limited', { kind: 'rate-limited', retryAfterSeconds: 100 }],
  ])('is posted once by two jobs if the %s', async (_, failure) => {
    const { work, workToTheEnd, slack, clock } = await start();
    slack.fail({ method: 'chat.postMessage', ...failure } as Failure);
    await open(1, says('It fires'));
    await work();
    clock.now += 1_000;
    await open(2, says('It is over'));
    await workToTheEnd();
    expect([await job(1), await job(2)]).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(texts()).toEqual(['It is over']);
  });

  it('keeps the text of a newer event that comes while an older one changes it', async () => {
    let during: (() => Promise<unknown>) | undefined;
    const { work, workToTheEnd, clock } = await start({
      runtime: {
        async fetch(...request) {
          const act = String(request[0]).endsWith('chat.update') ? during : undefined;
          if (act) during = undefined;
          await act?.();
          return fetch(...request);
        },
      },
    });
    await open(1, says('It fires'));
    await workToTheEnd();
    const groupOf = (id: number) => customGroup(`mine issue ${id}`);
    const other = [3, 4, 5, 6].find((id) => groupOf(id) !== groupOf(2)) ?? expect.fail();
    during = async () => {
      clock.now += 1_000;
      await open(other, says('It is over'));
      await work();
    };
    await open(2, says('It still fires'));
    await workToTheEnd();
    expect([await job(2), await job(other)]).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(texts()).toEqual(['It is over']);
  });

  it('is not let go for an older event', async () => {
    const { workToTheEnd, clock } = await start();
    const at = clock.now + 300_000;
    await open(1, async (steps) => {
      await steps.until('later', at);
      await says('It is over')(steps);
      return ends(steps);
    });
    clock.now += 1_000;
    await open(2, says('It fires again'));
    await workToTheEnd();
    await open(3, says('It is over now'));
    await workToTheEnd();
    expect(texts()).toEqual(['It is over now']);
  });

  it.each(['goes on', 'is discarded'])('is let go although its answer was lost, and its job %s', async (how) => {
    const { work, workToTheEnd, slack, clock } = await start();
    slack.fail({ method: 'chat.postMessage', kind: 'cut', when: 'after work' });
    await open(1, says('It fires'));
    await work();
    if (how === 'is discarded')
      await runRelayOf(relay ?? expect.fail(), ['discard', (await job(1)).id, '--reason', 'test']);
    for (const [id, act] of [ends, says('It fires again')].entries()) {
      clock.now += 1_000;
      await open(id + 2, act);
      await workToTheEnd();
    }
    expect(texts()).toEqual(['It fires', 'It fires again']);
  });

  it.each(['message_not_found', 'cant_update_message', 'edit_window_closed', 'channel_not_found', 'is_inactive'])(
    'is posted again if Slack does not change it: %s',
    async (error) => {
      const { workToTheEnd, slack } = await start();
      await open(1, says('It fires'));
      await workToTheEnd();
      slack.fail({ method: 'chat.update', kind: 'error', error });
      await open(2, says('It is over'));
      await workToTheEnd();
      await open(3, says('It is over, really'));
      await workToTheEnd();
      expect(texts()).toEqual(['It fires', 'It is over, really']);
    },
  );
});
