import { describe, expect, it } from 'vitest';
import { mira, startSandboxWorld } from './world.ts';

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
});
