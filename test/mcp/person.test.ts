import { describe, expect, it } from 'vitest';
import { mira, REDIRECT_URI, startSandboxWorld } from './world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('a person who has linked an account', () => {
  it('calls tools as themselves', async () => {
    const world = await startSandboxWorld();
    const worker = await world.worker();
    const grant = await world.link(worker);
    expect(grant).toMatchObject({ scopes: expect.arrayContaining(['mcp:use', 'mcp:timelogs.write']) });
    const { tools, unusable } = await worker.tools.list(mira);
    expect(unusable).toEqual([]);
    expect(tools.map(({ name }) => name)).toContain('log_time');
    const result = await worker.tools.call(mira, 'repeatable', 'list_projects', {});
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
    await worker.tools.call(mira, 'repeatable', 'list_projects', {});
    expect(sent.at(-1)?.get('authorization')).toMatch(/^Bearer /);
    expect(sent.filter((headers) => headers.has('x-api-key'))).toEqual([]);
  });

  it('is asked for the scopes of the docs/partner-api.md, and for none that is reserved', async () => {
    const world = await startSandboxWorld();
    const { link } = await world.worker();
    const { url } = await link.begin(REDIRECT_URI);
    const asked = new URL(url).searchParams.get('scope')?.split(' ');
    expect(asked).toContain('mcp:timelogs.write');
    expect(asked).not.toContain('mcp:users.write');
  });

  it('has an access token that counts as good for an hour, if the service does not say for how long', async () => {
    const world = await startSandboxWorld();
    const worker = await world.worker({
      async fetch(url, init) {
        const answer = await fetch(url, init);
        if (!String(url).endsWith('/oauth/token')) return answer;
        const { expires_in: _, ...tokens } = (await answer.json()) as Record<string, unknown>;
        return Response.json(tokens, { headers: answer.headers });
      },
    });
    await world.link(worker);
    const refreshes = () => world.sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token')).length;
    world.clock.now += HOUR / 2;
    await worker.tools.call(mira, 'repeatable', 'list_projects', {});
    expect(refreshes()).toBe(0);
    world.clock.now += HOUR / 2;
    await worker.tools.call(mira, 'repeatable', 'list_projects', {});
    expect(refreshes()).toBe(1);
    // The service did not have to refuse the old one.
    expect(world.sandbox.mcp.audit.filter(({ reason }) => reason?.includes('expired'))).toEqual([]);
  });

  it('waits for the next day once all requests of a day are used up', async () => {
    const world = await startSandboxWorld();
    const worker = await world.worker({ limits: { perMinute: 120, perDay: 10 } });
    await world.link(worker);
    const startedAt = world.clock.now;
    for (let calls = 0; calls < 10; calls++) await worker.tools.call(mira, 'repeatable', 'list_projects', {});
    expect(world.clock.now - startedAt).toBeGreaterThan(DAY - HOUR);
  });
});
