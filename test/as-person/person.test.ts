import { describe, expect, it } from 'vitest';
import type { McpEndpoint } from '../../lib/as-person/grants/mcp-endpoint.ts';
import { failureOf, mira, REDIRECT_URI, read, startLinked, startSandboxWorld } from './world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A fetch that changes the tokens of the token endpoint. */
const givingTokens =
  (change: (tokens: Record<string, unknown>) => object): typeof fetch =>
  async (url, init) => {
    const answer = await fetch(url, init);
    if (!String(url).endsWith('/oauth/token')) return answer;
    return Response.json(change((await answer.json()) as Record<string, unknown>), { headers: answer.headers });
  };

describe('a person who has linked an account', () => {
  it('calls tools as themselves', async () => {
    const { world, worker, grant } = await startLinked();
    expect(grant).toMatchObject({ scopes: expect.arrayContaining(['mcp:use', 'mcp:timelogs.write']) });
    const { tools, unusable } = await worker.tools.list(mira);
    expect(unusable).toEqual([]);
    expect(tools.map(({ name }) => name)).toContain('log_time');
    const result = await read(worker);
    expect(result.isError).toBe(false);
    expect(world.sandbox.mcp.calls).toMatchObject([{ tool: 'list_projects' }]);
  });

  it('sends a token, and never the partner key', async () => {
    const world = await startSandboxWorld();
    const sent: Headers[] = [];
    const worker = await world.worker({
      fetch(url, init) {
        sent.push(new Headers(init?.headers));
        return fetch(url, init);
      },
    });
    await world.link(worker);
    await read(worker);
    expect(sent.at(-1)?.get('authorization')).toMatch(/^Bearer /);
    expect(sent.filter((headers) => headers.has('x-api-key'))).toEqual([]);
  });

  it('sends no token to another instance after the base URL has changed', async () => {
    const { world } = await startLinked();
    const other = await startSandboxWorld();
    const [key] = other.sandbox.keys;
    world.stack.secrets.put(`${world.stack.secretPrefix}partner/main`, { baseUrl: other.sandbox.url, ...key });
    Object.assign(process.env, world.stack.variables);
    const moved = await world.worker();
    expect(await failureOf(read(moved))).toMatchObject({ name: 'AccountNeeded', reason: 'other instance' });
    expect(other.sandbox.mcp.audit).toEqual([]);
  });

  it('is asked for the scopes of docs/partner-api.md and for no reserved scope, even if the challenge names one', async () => {
    const world = await startSandboxWorld();
    const { link } = await world.worker({
      async fetch(url, init) {
        const answer = await fetch(url, init);
        const challenge = answer.headers.get('www-authenticate');
        if (challenge === null) return answer;
        const headers = { 'www-authenticate': `${challenge}, scope="mcp:use"` };
        return new Response(answer.body, { status: answer.status, headers });
      },
    });
    const { url } = await link.begin(REDIRECT_URI);
    const asked = new URL(url).searchParams.get('scope')?.split(' ');
    expect(asked).toContain('mcp:timelogs.write');
    expect(asked).not.toContain('mcp:users.write');
  });

  it('has an access token that counts as valid for an hour, if the service does not give its lifetime', async () => {
    const world = await startSandboxWorld();
    const worker = await world.worker({ fetch: givingTokens(({ expires_in: _, ...tokens }) => tokens) });
    await world.link(worker);
    const refreshes = () => world.sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token')).length;
    world.clock.now += HOUR / 2;
    await read(worker);
    expect(refreshes()).toBe(0);
    world.clock.now += HOUR / 2;
    await read(worker);
    expect(refreshes()).toBe(1);
    // The service did not have to refuse the old token.
    expect(world.sandbox.mcp.audit.filter(({ reason }) => reason?.includes('expired'))).toEqual([]);
  });

  it('has an access token that never expires, if the service gives a lifetime that no date can hold', async () => {
    const world = await startSandboxWorld();
    const forever = givingTokens(({ refresh_token: _, ...tokens }) => ({ ...tokens, expires_in: Number.MAX_VALUE }));
    const worker = await world.worker({ fetch: forever });
    const { unusedUntil } = await world.link(worker);
    expect(new Date(unusedUntil).getFullYear()).toBe(2036);
    await read(worker);
  });

  it('sends no call in a slot that passed while the call was noted', async () => {
    const limits = { perMinute: 5, perDay: 5_000 };
    const world = await startSandboxWorld({ mcp: { rateLimit: limits } });
    const [worker, other] = [await world.worker({ limits }), await world.worker({ limits })];
    await world.link(worker);
    const call = (by: McpEndpoint, mayLeave = async () => {}) =>
      by.tools.call(mira, 'repeatable', 'list_projects', {}, { mayLeave, leaves() {}, refused() {} });
    for (const one of [worker, other]) await call(one);
    world.clock.now += HOUR / 2;
    let isNoted = false;
    const noted = call(worker, async () => {
      if (isNoted) return;
      isNoted = true;
      world.clock.now += 73_000;
      for (let calls = 0; calls < limits.perMinute; calls++) await call(other);
    });
    expect(await noted).toMatchObject({ isError: false });
  });

  it('waits for the next day when all requests of a day are used up', async () => {
    const { world } = await startLinked();
    const worker = await world.worker({ limits: { perMinute: 120, perDay: 10 } });
    const startedAt = world.clock.now;
    for (let calls = 0; calls < 10; calls++) await read(worker);
    expect(world.clock.now - startedAt).toBeGreaterThan(DAY - HOUR);
  });
});
