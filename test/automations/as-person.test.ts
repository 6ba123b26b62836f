import { beforeEach, describe, expect, it } from 'vitest';
import { createVault } from '../../lib/as-person/grants/vault.ts';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { createPrivacy } from '../../lib/engine/record/privacy.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { nextMoment } from '../../local/world/world.ts';
import type { McpOptions } from '../../sandbox/mcp/options.ts';
import { linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, PLATFORM, TOMASZ } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const HOUR = 3_600_000;

type McpInput = NonNullable<RelayConfigInput['connections'][string]['mcp']>;

let relay: TestRelay;

async function start(mcp: McpInput = {}, sandbox: McpOptions = {}, fetch = globalThis.fetch): Promise<void> {
  const connection = { mcp: { accounts: 'offered', commands: sandboxCommands(), ...mcp } as const };
  relay = await startRelay({
    config: exampleConfig({}, { connection }),
    sandbox: { mcp: { enabled: true, ...sandbox } },
    runtime: { fetch },
  });
}
beforeEach(() => start());

const LOGGED_AS_YOU = /^:white_check_mark: Logged 1h30m on \S+ in your name on 2026-11-18\. Note: “wrote tests”\.$/;
const jobStates = async () => (await relay.jobs()).map(({ status }) => status);

describe('a command of a person with a linked account', () => {
  // The rows of test/kill/rows.ts try what tools create.
  it.each([
    [`log 1h30m ${CHECKOUT} 2026-11-18 wrote tests`, LOGGED_AS_YOU],
    ['log 2h "release checkout 2.4" today', /Logged 2h on Release checkout 2\.4 in your name/],
    ['done 101 102', /Completed checklist items 101 and 102 in your name/],
    ['defect Login fails', /Created defect \S+ in your name: Login fails/],
    ['find checkout', /Release checkout 2\.4/],
  ])('goes through that account, and not through the key: %s', async (typed, said) => {
    await linkAccount(relay);
    const before = relay.sandbox.requests;
    expect((await ask(relay, typed, { channelId: PLATFORM })).inTheEnd).toMatch(said);
    expect(relay.sandbox.requests).toBe(before);
  });

  it('goes through the key to the end, if the person links an account meanwhile', async () => {
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/timelogs/create', times: 40 });
    await ask(relay, `log 1h ${CHECKOUT}`);
    await linkAccount(relay);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(relay.told().at(-1)).toMatch(/Logged 1h on Release checkout 2\.4 today\.$/);
    expect(relay.timelogs()).toHaveLength(1);
  });
});

it('a finished tool call stays finished, even if the journal has no part of the answer', async () => {
  await linkAccount(relay);
  await command(relay, 'done 101 102');
  relay.table.stopAt((request) => request.includes('"reply"'));
  await expect(relay.work()).rejects.toThrow('lost');
  relay.table.goOn();
  const [{ id } = expect.fail('there is no job')] = await relay.jobs();
  const key = keys.step(id, 'complete all');
  const step = await relay.stores.table.get(key);
  expect(step).toMatchObject({ status: 'done' });
  const vault = createVault(relay.stores.secrets, relay.runtime.randomBytes);
  const sealed = await createPrivacy(id, { ...vault, wordsOf: () => undefined }).seal('complete all', {
    became: 'done',
    kept: null,
  });
  await relay.stores.table.put({ ...step, ...key, sealed });
  await relay.workToTheEnd();
  expect(relay.told().at(-1)).toContain('Completed checklist items 101 and 102 in your name');
  expect(await jobStates()).toEqual(['succeeded']);
});

describe('a grant that cannot be used', () => {
  // The rows of test/as-person/decisions.test.ts try how the relay reads each refusal of the service.
  it('was revoked: the job ends, the person reads why with a button, and asks again after linking again', async () => {
    await linkAccount(relay);
    relay.sandbox.setFault({ kind: 'grants-revoked', times: 1, operation: '/mcp/partner' });
    const { inTheEnd } = await ask(relay, `log 1h ${CHECKOUT} again`);
    expect(inTheEnd).toMatch(/no longer accepts the linked account|refuses the linked account/);
    expect(inTheEnd).toContain('Link your account in Slack');
    expect(relay.lastMessage().blocks?.map(({ type }) => type)).toContain('actions');
    expect(relay.timelogs()).toEqual([]);
    await linkAccount(relay);
    await ask(relay, `log 1h ${CHECKOUT} again`);
    expect(relay.timelogs()).toHaveLength(1);
    expect((await jobStates()).sort()).toEqual(['not-done', 'succeeded']);
  });

  it('lacks a scope: the person reads which one, and links with it', async () => {
    await linkAccount(relay, undefined, { scopes: ['mcp:use', 'mcp:tasks.read'] });
    const { inTheEnd } = await ask(relay, `log 1h ${CHECKOUT}`);
    expect(inTheEnd).toContain('mcp:timelogs.write');
    expect(JSON.stringify(relay.lastMessage().blocks)).toContain('mcp:timelogs.write');
    await linkAccount(relay);
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(relay.timelogs()).toHaveLength(1);
  });
});

/** A fetch that replaces the answer of a tool that has done its work. */
const answeringOf =
  (tool: string, answer: (id: number) => Response): typeof fetch =>
  async (url, init) => {
    const real = await fetch(url, init);
    const { method, id, params } = typeof init?.body === 'string' && init.body[0] === '{' ? JSON.parse(init.body) : {};
    return method === 'tools/call' && params.name === tool ? answer(id) : real;
  };

describe('a call that was carried out, but got an unexpected answer', () => {
  const error = (message: unknown, { code = -32_603, ...init }: ResponseInit & { code?: number } = {}) => {
    const answer = (id: number) => Response.json({ jsonrpc: '2.0', id, error: { code, message } }, init);
    return answer;
  };
  const unreadable = () =>
    Object.defineProperty(new Response(), 'headers', {
      value: {
        get() {
          throw new TypeError('a mistake of the relay');
        },
      },
    });
  const result = (content: unknown) => (id: number) => Response.json({ jsonrpc: '2.0', id, result: { content } });
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const tooDeep = (id: number) =>
    new Response(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${deep}}}`);

  it.each<[string, (id: number) => Response]>([
    ['an error whose message is no text', error({ toString: 1 })],
    ['an error whose message is too deep to read', tooDeep],
    ['a result whose content has a kind that is no text', result([{ type: { toString: 1 } }])],
    ['a refused status with an error of the service itself', error('failed', { status: 400 })],
    ['an answer that the relay itself fails on', unreadable],
    ['a gateway that has waited for too long', () => new Response('<html>', { status: 408 })],
  ])('is not sent again: %s', async (_, answer) => {
    await start({}, {}, answeringOf('log_time', answer));
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(relay.timelogs()).toHaveLength(1);
    expect(relay.told().at(-1)).toContain('Logged 1h');
  });

  it('may be sent again if the tool says that this is harmless', async () => {
    let answers = 0;
    const lost = answeringOf('complete_checklist_items', error({ toString: 1 }));
    await start({}, {}, (url, init) => (answers++ < 20 ? lost : fetch)(url, init));
    await linkAccount(relay);
    await command(relay, 'done 101 102');
    await relay.workToTheEnd();
    expect(relay.told().at(-1)).toContain('Completed checklist items 101 and 102 in your name');
  });
});

it('a command from before the table was replaced is not sent to a tool again, and its job says what to do', async () => {
  await linkAccount(relay);
  const copy = relay.backUp();
  const asked = { triggerId: 'trigger-1' };
  await ask(relay, `log 1h ${CHECKOUT}`, asked);
  expect(relay.timelogs()).toHaveLength(1);
  relay.replaceTable(copy);
  await command(relay, `log 1h ${CHECKOUT}`, asked);
  await relay.workToTheEnd();
  expect(relay.timelogs()).toHaveLength(1);
  expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toEqual([
    expect.stringMatching(/^the table was replaced on 2026-.* only the person can look: discard the job/),
  ]);
  relay.clock.now += 2 * HOUR;
  expect((await ask(relay, `log 1h ${CHECKOUT}`)).inTheEnd).toContain('Logged 1h');
  expect(relay.timelogs()).toHaveLength(2);
});

describe('a tool that has changed since its mapping', () => {
  it('is not called, and the job says what to do', async () => {
    const { log, ...others } = sandboxCommands();
    await start({ commands: { ...others, ...(log && { log: { ...log, schema: '0'.repeat(20) } }) } });
    await linkAccount(relay);
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(await jobStates()).toEqual(['parked']);
    const [job] = await relay.jobs('parked');
    expect(job?.parked?.reason).toContain(
      'has changed since relay.config.ts was written; run npx partner-relay mcp doctor',
    );
    expect(relay.timelogs()).toEqual([]);
  });

  it('is not called if the service no longer has it, and the job says so', async () => {
    await start({}, { renameTools: { log_time: 'book_time' } });
    await linkAccount(relay);
    expect((await ask(relay, `log 1h ${CHECKOUT}`)).inTheEnd).toContain('does not list the tool log_time');
  });
});

describe('the budget of the endpoint', () => {
  it('continues with a list of tools that needs more calls than a minute allows', async () => {
    await start({ limits: { perMinute: 2, perDay: 5_000 } });
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    for (let minute = 0; minute < 10 && relay.timelogs().length === 0; minute++) {
      await relay.work();
      relay.clock.now += 65_000;
      await relay.sweep();
    }
    expect(relay.timelogs()).toHaveLength(1);
  });

  it("keeps the order of a person's commands with any number of workers, and leaves workers to others", async () => {
    await start({ limits: { perMinute: 8, perDay: 5_000 } });
    await linkAccount(relay);
    const hours = [1, 2, 3, 4, 5, 6, 0.5];
    for (const count of hours) {
      await command(relay, `log ${count}h ${CHECKOUT}`);
      // The sweep sends commands again in the order of their times.
      relay.clock.now += 1_000;
    }
    for (;;) {
      await Promise.all(Array.from({ length: 5 }, () => relay.work()));
      const left = (await relay.jobs()).filter(({ status }) => status !== 'succeeded');
      if (left.length === 0) break;
      expect(left.filter(({ status }) => status === 'waiting').length).toBeLessThan(2);
      relay.clock.now = nextMoment(relay.clock.now, relay.stack.queues, left);
      await relay.sweep();
    }
    expect(relay.timelogs().map((entry) => entry.hours)).toEqual(hours);
  });
});

describe('a job that someone changed in the table', () => {
  const tomasz = { in: 'slack', id: TOMASZ } as const;
  async function askedFor(): Promise<Job> {
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    return (await relay.jobs())[0] ?? expect.fail('there is no job');
  }
  const put = (job: Job) => relay.stores.table.put({ ...keys.job(job.id), ...job });
  const reasons = async () => (await relay.jobs()).map(({ parked }) => parked?.reason);
  const CHANGED = expect.stringContaining('the job was changed after it was accepted');
  it.each<[string, (job: Job) => Partial<Job>]>([
    ['another input', ({ input }) => ({ input: { ...input, minutes: 600 } })],
    ['another person', ({ input, asked }) => ({ input: { ...input, by: tomasz }, asked: { ...asked, by: tomasz } })],
    ['another time', ({ asked }) => ({ asked: { ...asked, at: (asked?.at ?? 0) - 24 * HOUR } })],
    ['another person to tell', () => ({ replyTo: { in: 'slack', userId: TOMASZ } })],
    ['another id', ({ id }) => ({ id: `${id.slice(0, -1)}x` })],
    ['no signature', () => ({ signature: '' })],
  ])('acts through no account: %s', async (_, change) => {
    const asked = await askedFor();
    await linkAccount(relay, tomasz);
    const changed = { ...asked, ...change(asked) };
    await relay.stores.table.delete(keys.job(asked.id));
    await put(changed);
    await relay.stores.queue.send({ ...changed, generation: changed.generation });
    await relay.workToTheEnd();
    expect(await reasons()).toEqual([CHANGED]);
    expect([relay.sandbox.mcp.calls, relay.timelogs()]).toEqual([[], []]);
  });

  it('has the day on which its person asked, whatever time it claims to be from', async () => {
    const asked = await askedFor();
    await put({ ...asked, createdAt: asked.createdAt - 240 * HOUR });
    await relay.workToTheEnd();
    expect(relay.timelogs()).toMatchObject([{ date: '2026-11-20' }]);
  });

  it('acts through no account if it is older than the records of jobs', async () => {
    const asked = await askedFor();
    await relay.workToTheEnd();
    relay.clock.now += 31 * 24 * HOUR;
    for (const key of await relay.stores.table.partition(keys.job(asked.id).pk))
      await relay.stores.table.delete({ pk: String(key.pk), sk: String(key.sk) });
    await put(asked);
    await relay.stores.queue.send(asked);
    await relay.workToTheEnd();
    expect(await reasons()).toEqual([CHANGED]);
    expect(relay.timelogs()).toHaveLength(1);
  });

  it('is as intake made it, after an operator has replayed it', async () => {
    await linkAccount(relay);
    relay.sandbox.setFault({ kind: 'server-error', operation: '/mcp/partner', times: 60 });
    await command(relay, `log 1h30m ${CHECKOUT} wrote tests`);
    await relay.workToTheEnd();
    relay.sandbox.clearFaults();
    await relay.replay();
    expect(relay.told().at(-1)).toContain('in your name');
  });
});

it.each([
  ['a longer name', 'LOGIN page', 'log 1h Login page wrote tests'],
  ['the same name', 'LOGIN', 'log 1h "Login"'],
])("time is not logged as a person on a guess if a tool's list may leave out %s", async (_, hidden, typed) => {
  // The tool lists only the first fifty.
  const names = ['Login', ...Array.from({ length: 60 }, (_, team) => `Login of team ${team}`), hidden];
  relay.addTasks(Object.fromEntries(names.map((name, index) => [`task-${index}`, name])));
  await linkAccount(relay);
  const before = relay.sandbox.data.timelogs.length;
  expect((await ask(relay, typed)).inTheEnd).toContain('Did you mean');
  expect(relay.sandbox.data.timelogs).toHaveLength(before);
});

const { find: _, ...withoutFind } = sandboxCommands();
const CANNOT_FIND = ':warning: With your linked account, Partner Relay cannot look up names of tasks here.';
it.each([
  [
    'with a tool that finds tasks',
    { commands: sandboxCommands() },
    ':warning: No task has the name “Zebra crossing”, or a name that begins with it. To see ids, type /pm find <part of the name>.',
  ],
  ['without one', { commands: withoutFind }, `${CANNOT_FIND} To see ids, type /pm find <part of the name>.`],
  [
    'without one for anybody',
    { accounts: 'required' as const, commands: withoutFind },
    `${CANNOT_FIND} Write the id of the task.`,
  ],
])('a tool that takes a name as an id does not get the first word of an unquoted name, %s', async (_, mcp, said) => {
  await start(mcp);
  relay.addTasks({ Zebra: 'Feed the animals', 'Zebra crossing': 'Paint it' });
  await linkAccount(relay);
  expect((await ask(relay, 'log 1h Zebra crossing')).inTheEnd).toBe(said);
  expect(relay.timelogs()).toEqual([]);
  for (const typed of ['log 1h Zebra', 'log 1h "Zebra" crossing', 'log 1h #Zebra crossing']) await ask(relay, typed);
  expect(relay.timelogs()).toMatchObject(Array(3).fill({ task_id: 'Zebra' }));
  await ask(relay, 'log 1h yesterday "Zebra crossing"');
  expect(relay.timelogs().at(-1)).toMatchObject({ task_id: 'Zebra crossing', date: '2026-11-19' });
});
