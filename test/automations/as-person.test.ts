import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import type { Fault } from '../../sandbox/faults.ts';
import type { McpOptions } from '../../sandbox/mcp/options.ts';
import { startGithubApi } from '../github-api.ts';
import { commentPayload } from '../kill/github-payloads.ts';
import { GRANTS_KEY, linkAccount, sandboxCommands } from '../mcp/linked.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, lastMessage, MIRA, PLATFORM, TOMASZ, told } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const HOUR = 3_600_000;

type McpInput = NonNullable<RelayConfigInput['connections'][string]['mcp']>;

let relay: TestRelay;
afterEach(() => relay.close());

async function start(mcp: McpInput = {}, sandbox: McpOptions = {}): Promise<void> {
  const connection = { mcp: { link: 'offered', commands: sandboxCommands(), ...mcp } as const };
  relay = await startRelay({
    config: exampleConfig({}, { connection }),
    sandbox: { mcp: { enabled: true, ...sandbox } },
  });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}grants`, GRANTS_KEY);
}

const logged = () => relay.sandbox.data.timelogs.slice(3);
const jobStates = async () => (await relay.jobs()).map(({ status, notDone }) => (notDone ? 'not done' : status));

describe('a command of a person with a linked account', () => {
  it.each([
    [
      'log',
      `log 1h30m ${CHECKOUT} 2026-11-18 wrote tests`,
      /^:white_check_mark: Logged 1h30m on \S+ as you, 2026-11-18, as time entry \S+\.$/,
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
  it('acts through the key as before, where links are offered', async () => {
    await start();
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(told(relay).at(-1)).toMatch(/Logged 1h on Release checkout 2\.4 for Mira Novak/);
  });

  it('is asked to link one where links are required', async () => {
    await start({ link: 'required' });
    expect((await command(relay, `log 1h ${CHECKOUT}`)).text).toContain('Link your account first');
    expect(await relay.jobs()).toEqual([]);
  });

  it('acts through the key to the end, where they link an account meanwhile', async () => {
    await start();
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/timelogs/create', times: 40 });
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.work();
    await linkAccount(relay);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toMatch(/Logged 1h on Release checkout 2\.4 for Mira Novak/);
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
  ])('%s: the person is told once, and the job goes on after they have linked again', async (_, fault, said) => {
    await start();
    await linkAccount(relay);
    relay.sandbox.setFault({ ...fault, operation: '/mcp/partner' });
    const { inTheEnd } = await ask(relay, `log 1h ${CHECKOUT} again`);
    expect(inTheEnd).toMatch(said);
    expect(logged()).toEqual([]);
    relay.sandbox.clearFaults();
    if (fault.kind === 'mcp-disabled') relay.sandbox.mcp.enable();
    await linkAccount(relay);
    await relay.workToTheEnd();
    expect(logged()).toHaveLength(1);
    expect(await jobStates()).toEqual(['succeeded']);
  });

  it('is given up after a day, and the person hears why once, with a button', async () => {
    await start();
    await linkAccount(relay);
    relay.sandbox.mcp.revokeGrants();
    relay.clock.now += 2 * HOUR;
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(lastMessage(relay).blocks?.map(({ type }) => type)).toContain('actions');
    await relay.workToTheEnd();
    expect(await jobStates()).toEqual(['not done']);
    const said = told(relay);
    expect(said.filter((text) => text.includes('goes on once you have linked your account'))).toHaveLength(1);
    expect(said.at(-1)).toContain('Your account was not linked within a day');
    expect(logged()).toEqual([]);
  });

  it('lacks a scope: the person hears which, and the job goes on with it', async () => {
    await start();
    await linkAccount(relay, undefined, { scopes: ['mcp:use', 'mcp:tasks.read'] });
    const { inTheEnd } = await ask(relay, `log 1h ${CHECKOUT}`);
    expect(inTheEnd).toContain('mcp:timelogs.write');
    await linkAccount(relay);
    await relay.workToTheEnd();
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
  const withoutLookUp = () => {
    const { log, ...others } = sandboxCommands();
    const { lookUp: _, ...rest } = log ?? {};
    return { ...others, log: rest as NonNullable<typeof log> };
  };

  it('is found where a tool lists what was made, and is not sent again', async () => {
    await start();
    await linkAccount(relay);
    relay.sandbox.setFault({ ...lost, when: 'after work' });
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toContain(`as time entry ${logged()[0]?.timelog_id}`);
    expect(logged()).toHaveLength(1);
  });

  it.each([
    ['it was carried out and nothing lists it', 'after work', false, 1],
    ['it was not carried out and nothing lists it', 'before work', false, 0],
    ['it was not carried out and is not in the list', 'before work', true, 0],
  ] as const)('is left to the person: %s', async (_, when, hasLookUp, made) => {
    await start(hasLookUp ? {} : { commands: withoutLookUp() });
    await linkAccount(relay);
    relay.sandbox.setFault({ ...lost, when });
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toMatch(/^:warning: I do not know whether this was logged .*Please look in the service/);
    expect(logged()).toHaveLength(made);
    expect(await jobStates()).toEqual(['not done']);
  });

  it('may be sent again where the tool says of itself that this does no harm', async () => {
    await start();
    await linkAccount(relay);
    relay.sandbox.setFault({ ...lost, call: 'complete_checklist_items', when: 'after work' });
    await command(relay, 'done 101 102');
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toContain('Completed checklist items 101 and 102 as you');
  });

  it.each<Fault>([
    { kind: 'rate-limited', operation: '/mcp/partner', call: 'log_time', times: 1, retryAfterSeconds: 30 },
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

describe('what the tool does not take', () => {
  it('is not sent where its schema says so', async () => {
    await start();
    await linkAccount(relay);
    const { inTheEnd } = await ask(relay, `log 24h ${CHECKOUT}`);
    expect(inTheEnd).toContain('as you');
    const { arguments: given, ...log } = sandboxCommands().log ?? { arguments: {}, tool: '', schema: '' };
    await relay.close();
    await start({ commands: { log: { ...log, arguments: { ...given, hours: '{minutes}' } } } });
    await linkAccount(relay);
    relay.sandbox.setFault({ kind: 'server-error', operation: '/mcp/partner', call: 'log_time' });
    const refused = await ask(relay, `log 1h ${CHECKOUT}`);
    expect(refused.inTheEnd).toContain('The tool log_time does not take this: hours: 60 is greater than 24');
  });

  it('is told in its own words', async () => {
    await start();
    await linkAccount(relay);
    const { inTheEnd } = await ask(relay, 'log 1h 4711');
    expect(inTheEnd).toMatch(/^:warning: The tool log_time says: Task not found/);
    expect(await jobStates()).toEqual(['not done']);
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
    await start({}, { renameTools: { log_time: { name: 'book_time' } } });
    await linkAccount(relay);
    expect((await ask(relay, `log 1h ${CHECKOUT}`)).inTheEnd).toContain('does not list the tool log_time');
  });
});

describe('the budget of the endpoint', () => {
  it('holds no worker: the job waits in the table until there is room', async () => {
    await start({ limits: { perMinute: 8, perDay: 5_000 } });
    await linkAccount(relay);
    for (const hours of [1, 2, 3]) await command(relay, `log ${hours}h ${CHECKOUT}`);
    const before = relay.clock.now;
    await relay.work();
    expect(relay.clock.now - before).toBeLessThan(30_000);
    expect(await relay.jobs('waiting')).not.toEqual([]);
    await relay.workToTheEnd();
    expect(logged().map(({ hours }) => hours)).toEqual([1, 2, 3]);
  });
});

describe('a command in a comment on GitHub', () => {
  it('goes through the account that its author has linked in Slack, where people says who they are', async () => {
    const connection = { mcp: { link: 'offered', commands: sandboxCommands() } as const };
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
    const posted = commentPayload(1, `/log 1h ${CHECKOUT} from GitHub`);
    expect((await relay.post('issue_comment', posted)).status).toBe(202);
    await relay.workToTheEnd();
    expect(github.comments.at(-1)?.body).toContain('as you');
    expect(logged()).toHaveLength(1);
  });
});
