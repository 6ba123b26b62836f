import { describe, expect, it } from 'vitest';
import { mcpBudgetName } from '../../lib/as-person/grants/mcp-endpoint.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { BudgetUnavailable } from '../../lib/service/budget/budget-store.ts';
import { mcpErrors } from '../mcp-errors.ts';
import { failureOf, mira, read, type SandboxWorld, startSandboxWorld } from './world.ts';

const MINUTE = 60_000;

type Arranged = Partial<Parameters<typeof startSandboxWorld>[0]> & {
  /** The scopes that stay selected on the consent page. */
  scopes?: readonly string[];
  /** Runs before the account is linked. */
  before?: (world: SandboxWorld) => void;
  /** Runs after the account is linked. */
  after?: (world: SandboxWorld) => void;
  fetch?: typeof globalThis.fetch;
};

/** A worker for a person with a linked account. */
async function arrange({ scopes, before, after, fetch, ...sandbox }: Arranged) {
  const world = await startSandboxWorld(sandbox);
  before?.(world);
  await world.link(await world.worker(), scopes ? { scopes } : {});
  world.sandbox.clearFaults();
  after?.(world);
  return { world, worker: await world.worker(fetch ? { fetch } : {}) };
}

type Fetch = typeof globalThis.fetch;

const unchanged = (fetch: Fetch): Fetch => fetch;

/** A fetch that moves a refusal's error from the challenge to the message in the body. */
const inTheBody =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const answer = await fetch(url, init);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    const [parameter, error] = /error="(\w+)",? ?/.exec(challenge) ?? [];
    if (parameter === undefined) return answer;
    const body = (await answer.json()) as { error: { message: string } };
    body.error.message = `${error}: ${body.error.message}`;
    const headers = new Headers(answer.headers);
    headers.set('www-authenticate', challenge.replace(parameter, ''));
    return Response.json(body, { status: answer.status, headers });
  };

/** A fetch that leaves out the token. */
const withoutToken: Fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.delete('authorization');
  return fetch(url, { ...init, headers });
};

it.each(mcpErrors)(
  'the rows of docs/partner-api.md: $title: $relay.says, with the error in the challenge or only in the body',
  async ({ status, error, message, scopes, resource, isWithoutToken, happens, relay }) => {
    for (const through of [unchanged, inTheBody]) {
      let refusal: Response | undefined;
      const watched: Fetch = async (url, init) => {
        const answer = await (isWithoutToken ? withoutToken : fetch)(url, init);
        if (!answer.ok && String(url).endsWith('/mcp/partner')) refusal ??= answer.clone();
        return answer;
      };
      const { worker } = await arrange({
        ...(scopes && { scopes }),
        before({ sandbox }) {
          if (!resource) return;
          const fields = { resource: resource(sandbox) };
          sandbox.setFault({ kind: 'discovery', operation: '/.well-known/oauth-protected-resource', fields });
        },
        after: ({ sandbox }) => void happens?.(sandbox),
        fetch: through(watched),
      });
      expect(await failureOf(read(worker))).toMatchObject(relay.outcome);
      expect(refusal?.status).toBe(status);
      const challenge = refusal?.headers.get('www-authenticate') ?? '';
      expect(/\berror="(\w+)"/.exec(challenge)?.[1]).toBe(error);
      expect(challenge).toContain('/.well-known/oauth-protected-resource"');
      const code = status === 429 ? -32500 : expect.any(Number);
      expect(await refusal?.json()).toMatchObject({ error: { code, message: expect.stringContaining(message) } });
    }
  },
);

describe('a tool that creates', () => {
  const fault = { operation: '/mcp/partner', call: 'log_time' } as const;

  async function linked() {
    const { world, worker } = await arrange({});
    const task = world.sandbox.data.tasks[0]?.task_id ?? '';
    return {
      world,
      log: () => worker.tools.call(mira, 'sent once', 'log_time', { task, hours: 1 }),
      created: () => world.sandbox.mcp.calls.filter(({ outcome }) => outcome === 'done').length,
    };
  }

  it.each([
    [{ kind: 'cut', when: 'after work' }, 1],
    [{ kind: 'cut', when: 'before work' }, 0],
    [{ kind: 'server-error', when: 'after work' }, 1],
    [{ kind: 'server-error', when: 'before work' }, 0],
    [{ kind: 'empty-body' }, 1],
    [{ kind: 'maintenance', status: 200, when: 'after work' }, 1],
    [{ kind: 'maintenance', status: 404, when: 'after work' }, 1],
  ] as const)('is not sent again after %o', async (disturbance, done) => {
    const { world, log, created } = await linked();
    world.sandbox.setFault({ ...fault, ...disturbance, times: 1 });
    expect(await failureOf(log())).toMatchObject({ name: 'OutcomeUnknown' });
    expect(created()).toBe(done);
  });

  it('is sent again after a refusal which says that it was not carried out', async () => {
    const { world, log, created } = await linked();
    world.sandbox.setFault({ ...fault, kind: 'token-expired', times: 1 });
    expect(await log()).toMatchObject({ isError: false });
    expect(created()).toBe(1);
  });

  it('was not sent if only the handshake was lost', async () => {
    const { world, log, created } = await linked();
    world.sandbox.setFault({ kind: 'cut', operation: '/mcp/partner', call: 'initialize', times: 1 });
    expect(await failureOf(log())).toMatchObject({ name: 'TryLater' });
    expect(created()).toBe(0);
  });

  it('reports what the service says about an unknown tool or unknown arguments', async () => {
    const { worker } = await arrange({});
    expect(await failureOf(worker.tools.call(mira, 'sent once', 'no_such_tool', {}))).toMatchObject({
      name: 'CallRejected',
    });
  });

  it('counts as unknown even if its budget can no longer be written', async () => {
    const { world } = await linked();
    const budget = createBudget({ table: world.stores.table, clock: () => world.clock.now });
    const worker = await world.worker({
      budget: {
        ...budget,
        async requestSlot(request) {
          const answer = await budget.requestSlot(request);
          const unanswered = () => Promise.reject(new BudgetUnavailable(request.connection, 'throttled'));
          return answer.granted ? { ...answer, slot: { ...answer.slot, unanswered } } : answer;
        },
      },
    });
    world.sandbox.setFault({ ...fault, kind: 'cut' });
    const call = worker.tools.call(mira, 'sent once', 'log_time', {});
    expect(await failureOf(call)).toMatchObject({ name: 'OutcomeUnknown' });
  });
});

it.each([
  { kind: 'cut' },
  { kind: 'server-error' },
  { kind: 'maintenance' },
  { kind: 'maintenance', status: 404 },
] as const)('a call that may be repeated is tried later after %o', async (disturbance) => {
  const { worker } = await arrange({
    after: ({ sandbox }) => sandbox.setFault({ ...disturbance, operation: '/mcp/partner', times: 1 }),
  });
  expect(await failureOf(read(worker))).toMatchObject({ name: 'TryLater', isForBudget: false });
  expect(await read(worker)).toMatchObject({ isError: false });
});

describe('a session', () => {
  it('is not used after the person has linked another account', async () => {
    const { world, worker } = await arrange({});
    await read(worker);
    world.clock.now += MINUTE;
    await world.link(worker, { email: 'tomasz.zielinski@example.com' });
    await read(worker);
    const [first, second] = world.sandbox.mcp.calls.map(({ user_id }) => user_id);
    expect(first).not.toBe(second);
  });

  it('continues in the next job of the process, within the budget of that job', async () => {
    const { world } = await arrange({});
    const sessions = new Map();
    await read(await world.worker({ sessions }));
    const before = world.sandbox.mcp.audit.length;
    await read(await world.worker({ sessions }));
    expect(world.sandbox.mcp.audit.length).toBe(before + 1);
    const noSlot = { requestSlot: () => Promise.reject(new BudgetUnavailable('mcp', 'throttled')) };
    const budget = { ...createBudget({ table: world.stores.table, clock: () => world.clock.now }), ...noSlot };
    expect(await failureOf(read(await world.worker({ sessions, budget })))).toBeInstanceOf(BudgetUnavailable);
  });

  it('needs no id', async () => {
    const { worker } = await arrange({ mcp: { tellsSessionId: false } });
    expect(await read(worker)).toMatchObject({ isError: false });
  });
});

describe('the budget of an instance', () => {
  it('counts every request to the endpoint, for all workers and people together', async () => {
    const { world, worker } = await arrange({});
    await read(worker);
    await read(await world.worker());
    const budget = createBudget({ table: world.stores.table, clock: () => world.clock.now });
    const name = mcpBudgetName(worker.endpoint);
    const { minute } = await budget.view(name, { perMinute: 120, perDay: 5_000 });
    // One request for the challenge, and for each worker the handshake, its end, and the call.
    expect(minute.used).toBe(1 + 3 + 3);
  });

  it.each([
    ['another path', 'https://pm.example.com/a/mcp', 'https://pm.example.com/b/mcp', true],
    ['another port', 'https://pm.example.com/mcp', 'https://pm.example.com:8443/mcp', false],
    ['another host', 'https://pm.example.com/mcp', 'https://pm.example.org/mcp', false],
  ])('is shared by an instance at %s: %s and %s, %s', (_, one, other, same) => {
    expect(mcpBudgetName(one) === mcpBudgetName(other)).toBe(same);
  });

  it('keeps the limits, so that the service has nothing to refuse', async () => {
    const { world, worker } = await arrange({ mcp: { rateLimit: { perMinute: 20 } } });
    const busy = await world.worker({ limits: { perMinute: 20, perDay: 5_000 } });
    for (let calls = 0; calls < 30; calls++) expect(await read(busy)).toMatchObject({ isError: false });
    expect(worker.budgetName).toBe(busy.budgetName);
  });

  it('is paused for everyone after a 429', async () => {
    const { world, worker } = await arrange({
      after: ({ sandbox }) => sandbox.setFault({ kind: 'rate-limited', operation: '/mcp/partner', times: 1 }),
    });
    const before = world.clock.now;
    await failureOf(read(worker));
    expect(await read(await world.worker())).toMatchObject({ isError: false });
    expect(world.clock.now).toBeGreaterThanOrEqual(before + MINUTE);
  });
});

it('if the service has forgotten a registration, the people who were linked with it are asked to link again', async () => {
  const { world, worker } = await arrange({ after: ({ sandbox }) => sandbox.mcp.purgeClients() });
  world.clock.now += 60 * MINUTE;
  expect(await failureOf(read(worker))).toMatchObject({ reason: 'client forgotten' });
  await world.link(worker);
  expect(await read(worker)).toMatchObject({ isError: false });
});
