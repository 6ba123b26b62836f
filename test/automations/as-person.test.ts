import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { nextMoment } from '../../local/trial/next-moment.ts';
import type { Fault } from '../../sandbox/faults.ts';
import type { McpOptions } from '../../sandbox/mcp/options.ts';
import { type Commands, GRANTS_KEY, linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { startGithubApi } from '../github-api.ts';
import { commentPayload } from '../kill/github-payloads.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { backUp, replaceTable } from '../replaced-table.ts';
import { ask, command, lastMessage, MIRA, PLATFORM, TOMASZ, told } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const HOUR = 3_600_000;

type McpInput = NonNullable<RelayConfigInput['connections'][string]['mcp']>;

let relay: TestRelay;
afterEach(() => relay.close());

async function start(mcp: McpInput = {}, sandbox: McpOptions = {}, fetch = globalThis.fetch): Promise<void> {
  const connection = { mcp: { accounts: 'offered', commands: sandboxCommands(), ...mcp } as const };
  relay = await startRelay({
    config: exampleConfig({}, { connection }),
    sandbox: { mcp: { enabled: true, ...sandbox } },
    runtime: { fetch },
  });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}grants`, GRANTS_KEY);
}

const logged = () => relay.sandbox.data.timelogs.slice(3);
const jobStates = async () => (await relay.jobs()).map(({ status }) => status);

describe('a command of a person with a linked account', () => {
  it.each([
    [
      'log',
      `log 1h30m ${CHECKOUT} 2026-11-18 wrote tests`,
      /^:white_check_mark: Logged 1h30m on \S+ as you, 2026-11-18\. Note: “wrote tests”\.$/,
      () => expect(logged()).toMatchObject([{ hours: 1.5, date: '2026-11-18', note: /^wrote tests \[partner-relay / }]),
    ],
    [
      'log by a name',
      'log 2h "release checkout 2.4" today',
      /Logged 2h on Release checkout 2\.4 as you/,
      () => expect(logged()).toMatchObject([{ hours: 2, task_id: CHECKOUT }]),
    ],
    [
      'done',
      'done 101 102',
      /Completed checklist items 101 and 102 as you/,
      () =>
        expect(relay.sandbox.data.checklistItems.filter(({ is_completed }) => is_completed).length).toBeGreaterThan(1),
    ],
    [
      'defect',
      'defect Login fails',
      /Created defect \S+ as you: Login fails/,
      () => expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'Login fails', project_id: PROJECT }),
    ],
    ['find', 'find checkout', /Release checkout 2\.4/, () => {}],
  ])('goes through that account, and not through the key: %s', async (_, typed, said, check) => {
    await start();
    await linkAccount(relay);
    const before = relay.sandbox.requests;
    const { inTheEnd } = await ask(relay, typed, { channelId: PLATFORM });
    expect(inTheEnd).toMatch(said);
    check();
    expect(relay.sandbox.requests).toBe(before);
  });
});

describe('a person without a linked account', () => {
  it('acts through the key to the end, where they link an account meanwhile', async () => {
    await start();
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/timelogs/create', times: 40 });
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.work();
    await linkAccount(relay);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toMatch(/Logged 1h on Release checkout 2\.4, today\.$/);
    expect(logged()).toHaveLength(1);
  });
});

describe('a grant that cannot be used', () => {
  it.each<[string, Fault, RegExp]>([
    [
      'was revoked',
      { kind: 'grants-revoked', times: 1 },
      /does not accept the link any more|refuses the linked account/,
    ],
    ['has lost its consent', { kind: 'consent-withdrawn', times: 1 }, /consent was withdrawn|does not accept/],
    ['is of a workspace that is disabled', { kind: 'mcp-disabled', times: 1 }, /refuses the linked account|disabled/],
  ])(
    '%s: the job ends, the person hears why with a button, and asks again after they have linked again',
    async (_, fault, said) => {
      await start();
      await linkAccount(relay);
      relay.sandbox.setFault({ ...fault, operation: '/mcp/partner' });
      const { inTheEnd } = await ask(relay, `log 1h ${CHECKOUT} again`);
      expect(inTheEnd).toMatch(said);
      expect(inTheEnd).toContain('Link your account in Slack');
      expect(lastMessage(relay).blocks?.map(({ type }) => type)).toContain('actions');
      expect(logged()).toEqual([]);
      relay.sandbox.clearFaults();
      if (fault.kind === 'mcp-disabled') relay.sandbox.mcp.enable();
      await linkAccount(relay);
      await ask(relay, `log 1h ${CHECKOUT} again`);
      expect(logged()).toHaveLength(1);
      expect((await jobStates()).sort()).toEqual(['not-done', 'succeeded']);
    },
  );

  it('lacks a scope: the person hears which, and links with it', async () => {
    await start();
    await linkAccount(relay, undefined, { scopes: ['mcp:use', 'mcp:tasks.read'] });
    const { inTheEnd } = await ask(relay, `log 1h ${CHECKOUT}`);
    expect(inTheEnd).toContain('mcp:timelogs.write');
    expect(JSON.stringify(lastMessage(relay).blocks)).toContain('mcp:timelogs.write');
    await linkAccount(relay);
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(logged()).toHaveLength(1);
  });

  it('has expired and is renewed on the way', async () => {
    await start();
    await linkAccount(relay);
    relay.clock.now += 2 * HOUR;
    expect((await ask(relay, `log 1h ${CHECKOUT}`)).inTheEnd).toContain('as you');
  });
});

describe('a call whose answer is lost', () => {
  const lost = { kind: 'cut', operation: '/mcp/partner', call: 'log_time', times: 1 } as const;

  it('is left to the person where it is not in the list', async () => {
    await start();
    await linkAccount(relay);
    relay.sandbox.setFault({ ...lost, when: 'before work' });
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toMatch(/^:warning: I do not know whether this was logged .*Please look in the service/);
    expect(told(relay).join('\n')).not.toMatch(/accepts a limited number of calls|was interrupted/);
    expect(told(relay).at(-2)).toContain('the service did not say whether it did it');
    expect([logged(), await jobStates()]).toEqual([[], ['not-done']]);
  });

  it.each<Fault>([
    { kind: 'token-expired', operation: '/mcp/partner', call: 'log_time', times: 1 },
    { kind: 'sessions-ended', operation: '/mcp/partner', call: 'log_time', times: 1 },
    { kind: 'server-error', operation: '/mcp/partner', call: 'tools/list', times: 2 },
    { kind: 'server-error', operation: '/oauth/token', times: 1 },
  ])('is no such call where the service refuses it before it runs a tool: $kind', async (fault) => {
    await start();
    await linkAccount(relay);
    relay.clock.now += fault.operation === '/oauth/token' ? 2 * HOUR : 0;
    relay.sandbox.setFault(fault);
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(await jobStates()).toEqual(['succeeded']);
    expect(logged()).toHaveLength(1);
  });
});

/** A fetch that puts another answer in the place of a tool's, which has done its work. */
const answeringOf =
  (tool: string, answer: (id: number) => Response): typeof fetch =>
  async (url, init) => {
    const real = await fetch(url, init);
    const { method, id, params } = typeof init?.body === 'string' && init.body[0] === '{' ? JSON.parse(init.body) : {};
    return method === 'tools/call' && params.name === tool ? answer(id) : real;
  };

describe('a call that was carried out, and answered with what nobody expects', () => {
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
  const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it.each<[string, (id: number) => Response]>([
    ['an error whose message is no text', error({ toString: 1 })],
    [
      'an error whose message is too deep to read',
      (id) => new Response(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${deep(100_000)}}}`),
    ],
    ['a result whose content has a kind that is no text', result([{ type: { toString: 1 } }])],
    ['a refused status with an error of the service itself', error('failed', { status: 400 })],
    ['an answer that the relay itself fails on', unreadable],
    ['a gateway that has waited for too long', () => new Response('<html>', { status: 408 })],
  ])('is not sent again: %s', async (_, answer) => {
    await start({}, {}, answeringOf('log_time', answer));
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(logged()).toHaveLength(1);
    expect(told(relay).at(-1)).toContain('Logged 1h');
  });

  it('may be sent again where the tool says of itself that this does no harm', async () => {
    let answers = 0;
    const lost = answeringOf('complete_checklist_items', error({ toString: 1 }));
    await start({}, {}, (url, init) => (answers++ < 20 ? lost : fetch)(url, init));
    await linkAccount(relay);
    await command(relay, 'done 101 102');
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toContain('Completed checklist items 101 and 102 as you');
  });
});

describe('a command from before the table was replaced', () => {
  it('is not sent to a tool again, and its job says what to do', async () => {
    await start();
    await linkAccount(relay);
    const copy = await backUp(relay);
    const asked = { triggerId: 'trigger-1' };
    await ask(relay, `log 1h ${CHECKOUT}`, asked);
    expect(logged()).toHaveLength(1);
    await replaceTable(relay, copy);
    await command(relay, `log 1h ${CHECKOUT}`, asked);
    await relay.workToTheEnd();
    expect(logged()).toHaveLength(1);
    expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toEqual([
      expect.stringMatching(/^the table was replaced on 2026-.* only the person can look: discard the job/),
    ]);
    relay.clock.now += 2 * HOUR;
    expect((await ask(relay, `log 1h ${CHECKOUT}`)).inTheEnd).toContain('Logged 1h');
    expect(logged()).toHaveLength(2);
  });
});

describe('what the tool does not take', () => {
  it('is told in its own words', async () => {
    await start();
    await linkAccount(relay);
    const { inTheEnd } = await ask(relay, 'log 1h 4711');
    expect(inTheEnd).toMatch(/^:warning: The tool log_time says: Task not found/);
    expect(await jobStates()).toEqual(['not-done']);
  });

  it('is told where the person cannot see it', async () => {
    await start();
    await linkAccount(relay, { in: 'slack', id: TOMASZ }, { email: 'tomasz.zielinski@example.com' });
    const { tasks } = relay.sandbox.data;
    const hidden = tasks.find(({ project_id }) => project_id !== tasks[0]?.project_id);
    const { inTheEnd } = await ask(relay, `log 1h ${hidden?.task_id}`, { userId: TOMASZ });
    expect(inTheEnd).toMatch(/Task not found/);
  });
});

describe('a tool that has changed since it was mapped', () => {
  it('is not called, and the job says what to do', async () => {
    const { log, ...others } = sandboxCommands();
    await start({ commands: { ...others, ...(log && { log: { ...log, schema: '0'.repeat(20) } }) } });
    await linkAccount(relay);
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(await jobStates()).toEqual(['parked']);
    const [job] = await relay.jobs('parked');
    expect(job?.parked?.reason).toContain('has changed since relay.config.ts was written; run relay mcp doctor');
    expect(logged()).toEqual([]);
  });

  it('is told where it is gone', async () => {
    await start({}, { renameTools: { log_time: 'book_time' } });
    await linkAccount(relay);
    expect((await ask(relay, `log 1h ${CHECKOUT}`)).inTheEnd).toContain('does not list the tool log_time');
  });
});

describe('the budget of the endpoint', () => {
  /** The sweep sends commands again in the order of their times. */
  async function type(hours: number): Promise<void> {
    await command(relay, `log ${hours}h ${CHECKOUT}`);
    relay.clock.now += 1_000;
  }

  it('holds no worker: the job waits in the table until there is room', async () => {
    await start({ limits: { perMinute: 8, perDay: 5_000 } });
    await linkAccount(relay);
    for (const hours of [1, 2, 3]) await type(hours);
    const before = relay.clock.now;
    await relay.work();
    expect(relay.clock.now - before).toBeLessThan(30_000);
    expect(await relay.jobs('waiting')).not.toEqual([]);
    await relay.workToTheEnd();
    expect(logged().map(({ hours }) => hours)).toEqual([1, 2, 3]);
  });

  it('goes on with a list of tools that is longer than the calls of a minute', async () => {
    await start({ limits: { perMinute: 2, perDay: 5_000 } });
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    for (let minute = 0; minute < 10 && logged().length === 0; minute++) {
      await relay.work();
      relay.clock.now += 65_000;
      await relay.sweep();
    }
    expect(logged()).toHaveLength(1);
  });

  it("keeps the order of a person's commands, however many workers there are, and leaves workers to others", async () => {
    await start({ limits: { perMinute: 8, perDay: 5_000 } });
    await linkAccount(relay);
    const hours = [1, 2, 3, 4, 5, 6, 0.5];
    for (const count of hours) await type(count);
    for (;;) {
      await Promise.all(Array.from({ length: 5 }, () => relay.work()));
      const left = (await relay.jobs()).filter(({ status }) => status !== 'succeeded');
      if (left.length === 0) break;
      expect(left.filter(({ status }) => status === 'waiting').length).toBeLessThan(2);
      relay.clock.now = nextMoment(relay.clock.now, relay.stack.queues, left);
      await relay.sweep();
    }
    expect(logged().map((entry) => entry.hours)).toEqual(hours);
  });
});

describe('a job that was changed in the table', () => {
  const asTomasz = { in: 'slack', id: TOMASZ } as const;
  it.each<[string, (job: Job) => Partial<Job>]>([
    ['another input', ({ input }) => ({ input: { ...input, minutes: 600 } })],
    [
      'another person',
      ({ input, asked }) => ({ input: { ...input, by: asTomasz }, asked: { ...asked, by: asTomasz } }),
    ],
    ['another time', ({ asked }) => ({ asked: { ...asked, at: (asked?.at ?? 0) - 24 * HOUR } })],
    ['another person to tell', () => ({ replyTo: { in: 'slack', userId: TOMASZ } })],
    ['another id', ({ id }) => ({ id: `${id.slice(0, -1)}x` })],
    ['no signature', () => ({ signature: '' })],
  ])('acts through no account: %s', async (_, change) => {
    await start();
    await linkAccount(relay);
    await linkAccount(relay, asTomasz);
    await command(relay, `log 1h ${CHECKOUT}`);
    const [asked] = await relay.jobs();
    if (!asked) throw new Error('there is no job');
    const changed = { ...asked, ...change(asked) };
    await relay.stores.table.delete(keys.job(asked.id));
    await relay.stores.table.put({ ...keys.job(changed.id), ...changed });
    await relay.stores.queue.send({ ...changed, generation: changed.generation });
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([
      { status: 'parked', parked: { reason: expect.stringContaining('the job is not as intake made it') } },
    ]);
    expect([relay.sandbox.mcp.calls, logged()]).toEqual([[], []]);
  });

  it('has the day on which its person asked, whenever it says that it was made', async () => {
    await start();
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    const [asked] = await relay.jobs();
    if (!asked) throw new Error('there is no job');
    await relay.stores.table.put({ ...keys.job(asked.id), ...asked, createdAt: asked.createdAt - 240 * HOUR });
    await relay.workToTheEnd();
    expect(logged()).toMatchObject([{ date: '2026-11-20' }]);
  });

  it('acts through no account where it is older than the records of jobs', async () => {
    await start();
    await linkAccount(relay);
    await command(relay, `log 1h ${CHECKOUT}`);
    const [asked] = await relay.jobs();
    await relay.workToTheEnd();
    if (!asked) throw new Error('there is no job');
    relay.clock.now += 31 * 24 * HOUR;
    for (const key of await relay.stores.table.partition(keys.job(asked.id).pk))
      await relay.stores.table.delete({ pk: String(key.pk), sk: String(key.sk) });
    await relay.stores.table.put({ ...keys.job(asked.id), ...asked });
    await relay.stores.queue.send(asked);
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([
      { status: 'parked', parked: { reason: expect.stringContaining('not as intake') } },
    ]);
    expect(logged()).toHaveLength(1);
  });

  it('is as intake made it after an operator has replayed it', async () => {
    await start();
    await linkAccount(relay);
    relay.sandbox.setFault({ kind: 'server-error', operation: '/mcp/partner', times: 60 });
    await command(relay, `log 1h30m ${CHECKOUT} wrote tests`);
    await relay.workToTheEnd();
    const [parked] = await relay.jobs('parked');
    relay.sandbox.clearFaults();
    if (parked) await requeueJob(parked, relay.stores, { at: relay.clock.now, by: 'an operator', what: 'replayed' });
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toContain('as you');
  });
});

describe('a command in a comment on GitHub', () => {
  /**
   * @param has what GitHub shows of the comment
   * @returns the relay's answer to it
   */
  async function comment(
    text: string,
    commands: Commands,
    has: { text: string; author?: string } | null = { text },
    journal: readonly { step: string; calls: string; result?: unknown }[] = [],
  ): Promise<string | undefined> {
    const connection = { mcp: { accounts: 'offered', commands } as const };
    const people = [{ github: 'Codertocat', slack: MIRA, email: 'mira.novak@example.com' }];
    const github = await startGithubApi(() => relay.clock.now);
    onTestFinished(() => github.close());
    relay = await startRelay({
      config: exampleConfig({}, { connection, people, apiUrl: github.url }),
      sandbox: { mcp: { enabled: true } },
      github: { token: 'ghp_test' },
    });
    relay.stack.secrets.put(`${relay.stack.secretPrefix}grants`, GRANTS_KEY);
    await linkAccount(relay);
    if (has) github.written.set(600_001, has.text);
    if (has?.author) github.author = has.author;
    expect((await relay.post('issue_comment', commentPayload(1, text))).status).toBe(202);
    const [job] = await relay.jobs();
    for (const entry of journal) {
      const done = { ...entry, status: 'done', startedAt: relay.clock.now, finishedAt: relay.clock.now };
      await relay.stores.table.put({ ...keys.step(job?.id ?? '', entry.step), ...done });
    }
    await relay.workToTheEnd();
    return github.comments.at(-1)?.body;
  }

  const LOG = `/log 1h ${CHECKOUT} from GitHub`;

  it.each([
    ['another author', { text: LOG, author: 'mallory' }, 'not by the person in the event', 0],
    ['nothing that may be read', null, 'Logged 1h on task', 1],
  ])('does not go through that account where GitHub shows %s', async (_, has, said, entries) => {
    const answer = await comment(LOG, sandboxCommands(), has);
    expect([answer?.includes(said), answer?.includes('as you')]).toEqual([true, false]);
    expect(logged()).toHaveLength(entries);
    expect(relay.sandbox.mcp.calls).toEqual([]);
  });

  const LOOKED = { step: 'read the comment 1', calls: 'GitHub comment read', result: 'there' };
  const ACTED = { step: 'log the time before', calls: 'tool log_time', result: { became: 'done', kept: null } };
  const WHO = { step: 'who acts', calls: 'account link', result: { in: 'slack', id: MIRA } };

  it.each([
    ['that GitHub was asked', [LOOKED]],
    ['that GitHub was asked, and who acts', [LOOKED, WHO]],
    ['that the job has acted, and who acts', [LOOKED, ACTED, WHO]],
  ])('does not go through that account because the journal says %s', async (_, journal) => {
    await comment(LOG, sandboxCommands(), { text: LOG, author: 'mallory' }, journal);
    expect([logged(), relay.sandbox.mcp.calls]).toEqual([[], []]);
  });

  it('goes through the account that its author has linked in Slack, where people says who they are', async () => {
    expect(await comment(`/log 1h ${CHECKOUT} from GitHub`, sandboxCommands())).toContain('as you');
    expect(logged()).toHaveLength(1);
  });

  it('is answered without words of the schema, which strangers would read', async () => {
    const { log, ...others } = sandboxCommands();
    const inMinutes = log && { ...log, arguments: { ...log.arguments, hours: '{minutes}' } };
    const answer = await comment(`/log 1h ${CHECKOUT}`, { ...others, ...(inMinutes && { log: inMinutes }) });
    expect(answer).toContain('does not take this');
    expect(answer).not.toContain('greater than');
  });
});

it.each([
  ['a longer name', 'LOGIN page', 'log 1h Login page wrote tests'],
  ['the same name', 'LOGIN', 'log 1h "Login"'],
])('time is not logged as a person on a guess where a list of the tool may leave out %s', async (_, hidden, typed) => {
  await start();
  const { tasks } = relay.sandbox.data;
  const [task = expect.fail('the sandbox has no task')] = tasks;
  // The tool lists the first fifty.
  const names = ['Login', ...Array.from({ length: 60 }, (_, team) => `Login of team ${team}`), hidden];
  tasks.push(...names.map((name, index) => ({ ...task, task_id: `task-${index}`, name, title: name })));
  await linkAccount(relay);
  const before = relay.sandbox.data.timelogs.length;
  expect((await ask(relay, typed)).inTheEnd).toContain('Did you mean');
  expect(relay.sandbox.data.timelogs).toHaveLength(before);
});

describe('a tool that takes a name for an id', () => {
  it.each([
    ['with a tool that finds tasks', sandboxCommands()],
    ['without one', { ...sandboxCommands(), find: undefined }],
  ])('gets no first word of an unquoted name, %s', async (_, commands) => {
    await start({ commands });
    const { tasks } = relay.sandbox.data;
    const [task = expect.fail('the sandbox has no task')] = tasks;
    tasks.push({ ...task, task_id: 'Zebra', name: 'Feed the animals' });
    await linkAccount(relay);
    expect((await ask(relay, 'log 1h Zebra crossing')).inTheEnd).toContain('does not begin with the name of a task');
    expect(logged()).toEqual([]);
    for (const typed of ['log 1h Zebra', 'log 1h "Zebra" crossing', 'log 1h #Zebra crossing']) await ask(relay, typed);
    expect(logged()).toMatchObject(Array(3).fill({ task_id: 'Zebra' }));
  });
});
