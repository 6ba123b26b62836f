import { join } from 'node:path';
import { github, type Run, token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { beforeEach, describe, expect, it } from 'vitest';
import { jobsInWords } from '../../cli/plan.ts';
import { customGroup } from '../../lib/engine/line/queue.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import type { Failure } from '../../local/slack/failures.ts';
import { runTest } from '../../local/trial/run-test.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { runRelayOf } from '../cli/run-command.ts';
import { issueEvent } from '../issue-events.ts';
import { customOf, exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';

let relay: TestRelay;
const LOST: Fault = { kind: 'cut', when: 'after work' };
const NEVER_THERE: Fault = { kind: 'cut', when: 'on arrival' };

describe('an incident of a monitoring tool', () => {
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

/** Starts a relay in which the job of issue `n` runs `acts.get(n)`. */
async function start(options: TestRelayOptions = {}): Promise<void> {
  acts = new Map();
  const on = github('issues.opened', {
    input: { id: z.number() },
    job: ({ issue: { number } }) => ({ happened: [number], entity: `issue ${number}`, input: { id: number } }),
  });
  const run: Run<typeof on> = async ({ id }, steps) => (await acts.get(id)?.(steps)) ?? 'nothing';
  relay = await startRelay({ own: { mine: { on, run } }, config: exampleConfig({ comment: false }), ...options });
}

/** Opens an issue, whose job carries out the act. */
async function open(id: number, act: Act): Promise<void> {
  acts.set(id, act);
  await relay.post('issues', issueEvent('opened', { id, labels: [] }));
}
/** Opens issues from `first` on, whose jobs carry out the acts in turn. */
async function inTurn(first: number, ...all: Act[]): Promise<void> {
  for (const [index, act] of all.entries()) {
    await open(first + index, act);
    await relay.workToTheEnd();
  }
}
/** Starts the first run of a job. */
async function runs(id: number, act: Act): Promise<void> {
  await open(id, act);
  await relay.work();
}
/** Ends the first run of a job before a write to the table. */
async function stops(id: number, act: Act, isWrite: (input: string) => boolean): Promise<void> {
  relay.table.stopAt(isWrite);
  await runs(id, act).catch(() => {});
  relay.table.goOn();
}
const job = async (id: number): Promise<Job> =>
  (await relay.jobs()).find(({ entity }) => entity === `issue ${id}`) ?? expect.fail(`no job of ${id}`);
const outcomes = (...ids: number[]) => Promise.all(ids.map(async (id) => (await job(id)).outcome));
/** The issues whose jobs do not wait for the given issue's jobs. */
const besides = (id: number) => {
  const groupOf = (issue: number) => customGroup(`mine issue ${issue}`);
  return [3, 4, 5, 6, 7, 8, 9].filter((other) => groupOf(other) !== groupOf(id));
};

const PAYLOADS = {
  'defects/create': { project_id: PROJECT, title: 'Down', description: 'It fires' },
  'tasks/create': { project_id: PROJECT, name: 'Down' },
} as const;
type Creation = keyof typeof PAYLOADS;
const creates =
  (operation: Creation = 'defects/create', key = 'alert 1', payload: object = PAYLOADS[operation]): Act =>
  async ({ create }) =>
    `it is ${(await create('it', operation, payload as (typeof PAYLOADS)['tasks/create'], { for: key })).id}`;
const finds: Act = async ({ found }) => `it is ${await found('it', 'alert 1')}`;
const things = () =>
  [...relay.sandbox.data.defects, ...relay.sandbox.data.tasks].filter(
    (one) => Object(one).title === 'Down' || Object(one).name === 'Down',
  );
/** The first run of a job claims the key, and stops before it stores a request. */
const stopClaimed = (id: number, act: Act) => stops(id, act, (input) => input.includes('request#'));
const idOf = (thing: object | undefined) => Object(thing).defect_id ?? Object(thing).task_id;
const outcome = (nth = 0) => `it is ${idOf(things()[nth])}`;

describe('two jobs with one name and key', () => {
  beforeEach(() => start());

  it('get the same id', async () => {
    await open(1, creates());
    await open(2, creates('defects/create', 'alert 1', { project_id: PROJECT, title: 'Another title' }));
    await relay.workToTheEnd();
    expect(things()).toHaveLength(1);
    expect(await outcomes(1, 2)).toEqual([outcome(), outcome()]);
    expect(relay.sandbox.data.defects.map(({ title }) => title)).not.toContain('Another title');
  });

  it('create two objects for different keys', async () => {
    await open(1, creates());
    await open(2, creates('defects/create', 'alert 2'));
    await relay.workToTheEnd();
    expect(things()).toHaveLength(2);
  });

  it('wait for each other while an answer is open, and so does `found`', async () => {
    relay.sandbox.setFault({ ...LOST, operation: '/defects/create', times: 1 });
    const limited = { kind: 'rate-limited', retryAfterSeconds: 100, operation: '/defects/create' } as const;
    relay.sandbox.setFault({ ...limited, skip: 1, times: 1 });
    await runs(1, creates());
    expect(await job(1)).toMatchObject({ status: 'waiting' });
    await open(2, creates());
    await runs(3, finds);
    const waits = { newest: [{ for: 'job', why: expect.stringContaining((await job(1)).id) }] };
    for (const id of [2, 3]) expect(await job(id)).toMatchObject({ status: 'waiting', waits });
    await relay.workToTheEnd();
    expect(things()).toHaveLength(1);
    expect(await outcomes(1, 2, 3)).toEqual([outcome(), outcome(), outcome()]);
  });

  it('with different operations park', async () => {
    await inTurn(1, creates('defects/create'), creates('tasks/create'));
    const parked = { reason: expect.stringContaining('another name') };
    expect(await job(2)).toMatchObject({ status: 'parked', parked });
  });

  it('with different operations continue if nothing was sent', async () => {
    await stopClaimed(1, creates('tasks/create'));
    acts.set(1, creates('defects/create'));
    await relay.workToTheEnd();
    expect(await outcomes(1)).toEqual([outcome()]);
  });

  it('create two objects if the first gets another key in its next run', async () => {
    await stopClaimed(1, creates());
    acts.set(1, creates('defects/create', 'alert 2'));
    await relay.workToTheEnd();
    await inTurn(2, creates());
    expect(await outcomes(1, 2)).toEqual([outcome(0), outcome(1)]);
    expect(things()).toHaveLength(2);
  });

  it("create one object if the first one's code gave no key", async () => {
    const waits =
      (...of: { for: string }[]): Act =>
      async ({ create, until }) => {
        const { id } = await create('it', 'defects/create', PAYLOADS['defects/create'], ...of);
        await until('later', '2026-11-20T12:00:00Z');
        return `it is ${id}`;
      };
    await runs(1, waits());
    acts.set(1, waits({ for: 'alert 1' }));
    await relay.workToTheEnd();
    await inTurn(2, creates());
    expect(await outcomes(1, 2)).toEqual([outcome(), outcome()]);
  });

  it('continue after a refusal of the first, which created nothing', async () => {
    await inTurn(1, creates('defects/create', 'alert 1', { project_id: 'no project' }));
    expect(await job(1)).toMatchObject({ status: 'parked', parked: { kind: 'refused' } });
    await inTurn(2, creates());
    expect(await outcomes(2)).toEqual([outcome()]);
  });
});

it('the object for a key is found again after the table was lost, however late the next job comes', async () => {
  await start();
  await inTurn(1, creates());
  relay.replaceTable([]);
  relay.clock.now += 30 * 86_400_000;
  await open(2, creates());
  await open(3, creates('defects/create', 'alert 2'));
  await relay.workToTheEnd();
  expect(await outcomes(2, 3)).toEqual([outcome(0), outcome(1)]);
  expect(things()).toHaveLength(2);
});

describe('a job whose creation has no clear answer', () => {
  /** Parks a job. The service shows what it created only after that, if at all. */
  async function parked(operation: Creation, isMade: boolean): Promise<string> {
    await start();
    const { sandbox } = relay;
    sandbox.setFault({ ...(isMade ? LOST : NEVER_THERE), operation: `/${operation}` });
    await open(1, creates(operation));
    if (isMade && operation === 'defects/create') {
      await relay.work();
      const [made] = sandbox.data.defects.splice(-1);
      await relay.workToTheEnd();
      if (made) sandbox.data.defects.push(made);
    } else await relay.workToTheEnd();
    sandbox.clearFaults();
    const { id, parked: why } = await job(1);
    expect(why).toMatchObject({ kind: 'outcome unknown' });
    relay.clock.now += 3_600_000;
    return id;
  }
  const decide = async (...words: string[]) => {
    await runRelayOf(relay, words);
    await relay.workToTheEnd();
  };
  const discard = (id: string) => decide('discard', id, '--reason', 'test');
  const next = async (id: number, operation: Creation) => {
    await inTurn(id, creates(operation));
    return job(id);
  };
  const made = () => ({ status: 'succeeded', outcome: outcome() });
  const unknown = { status: 'parked', parked: { kind: 'outcome unknown' } };

  it.each(['parked', 'discarded'])('and is %s is followed by a search, which finds what it created', async (how) => {
    const id = await parked('defects/create', true);
    if (how === 'discarded') await discard(id);
    expect(await next(2, 'defects/create')).toMatchObject(made());
    if (how === 'parked') {
      await decide('replay', id);
      expect(await job(1)).toMatchObject(made());
    }
    expect(things()).toHaveLength(1);
  });

  it.each(['parked', 'discarded'])('and is %s leaves it to a person if the search finds nothing', async (how) => {
    const id = await parked('defects/create', false);
    if (how === 'discarded') await discard(id);
    const other = await next(2, 'defects/create');
    expect(other).toMatchObject(unknown);
    expect(things()).toHaveLength(0);
    if (how === 'parked') await decide('resolve', id, '--again');
    await decide('resolve', other.id, '--again');
    expect(await job(2)).toMatchObject(made());
    expect(await next(3, 'defects/create')).toMatchObject(made());
    if (how === 'parked') expect(await job(1)).toMatchObject(made());
    expect(things()).toHaveLength(1);
  });

  it('and cannot be searched for must be decided before others continue', async () => {
    const id = await parked('tasks/create', true);
    const other = await next(2, 'tasks/create');
    const reason = expect.stringContaining(`npx partner-relay resolve ${id}`);
    expect(other.parked).toMatchObject({ kind: 'needs an operator', reason });
    await decide('resolve', id, '--done', idOf(things()[0]));
    await decide('replay', other.id);
    expect([await job(1), await job(2)]).toMatchObject([made(), made()]);
  });

  it.each(['--done', '--again'])(
    'and cannot be searched for is decided with the next job once it is discarded: %s',
    async (how) => {
      await discard(await parked('tasks/create', how === '--done'));
      const other = await next(2, 'tasks/create');
      expect(other).toMatchObject(unknown);
      await decide('resolve', other.id, ...(how === '--done' ? [how, idOf(things()[0])] : [how]));
      expect([await job(2), await next(3, 'tasks/create')]).toMatchObject([made(), made()]);
      expect(things()).toHaveLength(1);
    },
  );

  it('is settled by `found`, and a plan knows which call that took', async () => {
    await parked('defects/create', true);
    const { sandbox, runtime, stores } = relay;
    sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 3_600, operation: '/tasks/list' });
    await open(2, async (steps) => {
      const found = await finds(steps);
      await steps.call('read', 'tasks/list', { project_id: PROJECT });
      return found;
    });
    await relay.workToTheEnd(600_000);
    expect((await jobsInWords(runtime.custom, runtime.config, stores, 'local')).join()).toContain(
      '2 would continue unchanged',
    );
  });

  it('is decided by a person, after which a job that searched first creates the object', async () => {
    await parked('defects/create', false);
    await inTurn(2, async (steps) => `${await steps.found('it', 'alert 1')}: ${await creates()(steps)}`);
    await decide('resolve', (await job(2)).id, '--again');
    expect(await job(2)).toMatchObject({ status: 'succeeded', outcome: `undefined: ${outcome()}` });
    expect(things()).toHaveLength(1);
  });

  it.each<Creation>(['defects/create', 'tasks/create'])(
    'of %s is settled or parked by `found`, too',
    async (operation) => {
      const id = await parked(operation, true);
      await inTurn(2, finds);
      if (operation === 'tasks/create') {
        const { id: other, parked: why } = await job(2);
        expect(why).toMatchObject({ reason: expect.stringContaining(id) });
        await discard(id);
        await decide('replay', other);
        expect(await job(2)).toMatchObject(unknown);
        await decide('resolve', other, '--done', idOf(things()[0]));
      }
      expect([await job(2), await next(3, operation)]).toMatchObject([made(), made()]);
      expect(things()).toHaveLength(1);
    },
  );
});

describe('an object that was released', () => {
  beforeEach(() => start());

  const ends: Act = async ({ letGo }) => {
    await letGo('it', 'alert 1');
    return 'ended it';
  };

  it('is created again by the next job', async () => {
    await inTurn(1, creates(), ends, ends, creates(), creates());
    expect(await outcomes(1, 4, 5)).toEqual([outcome(0), outcome(1), outcome(1)]);
    expect(things()).toHaveLength(2);
  });

  it('is found by the newest name if the table was lost', async () => {
    await inTurn(1, creates(), ends, creates(), ends, creates());
    relay.replaceTable([]);
    await inTurn(6, creates(), ends, creates());
    expect(await outcomes(6, 8)).toEqual([outcome(2), outcome(3)]);
  });

  it.each<[string, Act]>([
    ['found', finds],
    ['created', creates()],
  ])('is not an object that others have created since the job %s it', async (_, sees) => {
    await runs(1, creates());
    await runs(2, async (steps) => {
      await sees(steps);
      await steps.until('later', '2026-11-20T12:00:00Z');
      return ends(steps);
    });
    await runs(3, ends);
    await inTurn(4, creates(), creates());
    const [fourth, fifth] = await outcomes(4, 5);
    expect(fifth).toBe(fourth);
    expect(things()).toHaveLength(2);
  });

  it('is not an object that others have created since, if the job stopped before the release', async () => {
    await runs(1, creates());
    await stops(2, ends, (input) => input.includes('made#') && input.includes('"turn":{"N":"1"'));
    // The second job's message holds up its group, so these jobs are in other groups.
    const [end = 0, create = 0] = besides(2);
    await runs(end, ends);
    await runs(create, creates());
    expect(things()).toHaveLength(2);
    await relay.workToTheEnd();
    expect(await job(2)).toMatchObject({ status: 'succeeded' });
    await inTurn(10, creates());
    expect(await outcomes(10)).toEqual([outcome(1)]);
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
  const texts = () => relay.slack.messages.map(({ text }) => text);
  /** Carries out the act five minutes after its event. */
  const late = (act: Act): Act => {
    const at = relay.clock.now + 300_000;
    return async (steps) => {
      await steps.until('later', at);
      return act(steps);
    };
  };
  async function succeed(...ids: number[]): Promise<void> {
    for (const id of ids) expect(await job(id)).toMatchObject({ status: 'succeeded' });
  }

  it('is posted once, and changed by later jobs, until it is released', async () => {
    await start();
    await inTurn(1, says('It fires'), says('It is over'), ends, says('It fires again'));
    expect(texts()).toEqual(['It is over', 'It fires again']);
  });

  it('keeps the text of a newer event', async () => {
    await start();
    await open(1, late(says('It fires')));
    relay.clock.now += 1_000;
    await inTurn(2, says('It is over'));
    await succeed(1);
    expect(texts()).toEqual(['It is over']);
  });

  it.each<[string, Partial<Failure>]>([
    ['answer is lost', { kind: 'cut', when: 'after work' }],
    ['request is lost', { kind: 'cut', when: 'before work' }],
    ['channel is limited', { kind: 'rate-limited', retryAfterSeconds: 100 }],
  ])('is posted once by two jobs if the %s', async (_, failure) => {
    await start();
    relay.slack.fail({ method: 'chat.postMessage', ...failure } as Failure);
    await runs(1, says('It fires'));
    relay.clock.now += 1_000;
    await inTurn(2, says('It is over'));
    await succeed(1, 2);
    expect(texts()).toEqual(['It is over']);
  });

  it('keeps the text of a newer event that arrives while an older one changes the message', async () => {
    let during: (() => Promise<unknown>) | undefined;
    await start({
      runtime: {
        async fetch(...request) {
          const act = String(request[0]).endsWith('chat.update') ? during : undefined;
          if (act) during = undefined;
          await act?.();
          return fetch(...request);
        },
      },
    });
    await inTurn(1, says('It fires'));
    const [other = 0] = besides(2);
    during = () => {
      relay.clock.now += 1_000;
      return runs(other, says('It is over'));
    };
    await inTurn(2, says('It still fires'));
    await succeed(2, other);
    expect(texts()).toEqual(['It is over']);
  });

  it('is not released for an older event', async () => {
    await start();
    const isOver: Act = async (steps) => {
      await says('It is over')(steps);
      return ends(steps);
    };
    await open(1, late(isOver));
    relay.clock.now += 1_000;
    await inTurn(2, says('It fires again'), says('It is over now'));
    expect(texts()).toEqual(['It is over now']);
  });

  it.each(['goes on', 'is discarded'])('is released even if its answer was lost, and its job %s', async (how) => {
    await start();
    relay.slack.fail({ method: 'chat.postMessage', kind: 'cut', when: 'after work' });
    await runs(1, says('It fires'));
    if (how === 'is discarded') await runRelayOf(relay, ['discard', (await job(1)).id, '--reason', 'test']);
    for (const [id, act] of [ends, says('It fires again')].entries()) {
      relay.clock.now += 1_000;
      await inTurn(id + 2, act);
    }
    expect(texts()).toEqual(['It fires', 'It fires again']);
  });

  it.each(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
    'is posted again if Slack does not change it: %s',
    async (error) => {
      await start();
      await inTurn(1, says('It fires'));
      relay.slack.fail({ method: 'chat.update', kind: 'error', error });
      await inTurn(2, says('It is over'), says('It is over, really'));
      expect(texts()).toEqual(['It fires', 'It is over, really']);
    },
  );
});
