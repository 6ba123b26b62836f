import { describe, expect, it } from 'vitest';
import { judgeConcurrency } from '../../cli/doctor/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';

describe('the concurrency of the account', () => {
  const judge = (limit: number, also: Partial<RelayConfigInput> = {}) =>
    judgeConcurrency(defineConfig({ connections: { main: {} }, ...also }), 'prod', limit);

  it('the quota of a new account is too small for the webhooks', () => {
    const { verdict, detail } = judge(10, { slack: { connection: 'main' } });
    expect(verdict).toBe('bad');
    expect(detail).toMatch(
      /^10, but the relay needs up to 34 \(10 for the worker, 20 for the 2 functions that are open/,
    );
    expect(detail).toMatch(/Service Quotas.*Until then, write accountConcurrency: 10 under deployment.stages.prod/);
  });

  it('the quota of a new account does for a stage that states it, except for bursts', () => {
    const deployment = { stages: { prod: { accountConcurrency: 10 } } };
    const { verdict, detail } = judge(10, { slack: { connection: 'main' }, deployment });
    expect(verdict).toBe('good');
    expect(detail).toMatch(/A burst of events needs up to 28 .*beyond the quota, webhooks are refused.*Service Quotas/);
    expect(judge(9, { deployment }).verdict).toBe('bad');
  });

  it('the quota of any other account is sufficient', () => {
    expect(judge(1_000).verdict).toBe('good');
  });

  it('what is needed follows the configured concurrency and the functions that are deployed', () => {
    const { detail } = judge(1_000, {
      connections: { main: { mcp: { accounts: 'offered' } } },
      slack: { connection: 'main' },
      deployment: { maxConcurrency: { interactive: 10, background: 45 } },
    });
    expect(detail).toMatch(/needs up to 224 \(55 for the worker, 165 for the 3 functions/);
    expect(detail).toMatch(/write accountConcurrency: 1000 under deployment.stages.prod/);
  });

  it('what the configuration counts on must be there', () => {
    const deployment = { stages: { prod: { accountConcurrency: 500 } } };
    expect(judge(400, { deployment })).toMatchObject({ verdict: 'bad', detail: expect.stringMatching(/up to 500/) });
    expect(judge(500, { deployment }).detail).toMatch(/10 are reserved, and Lambda keeps 100 more free\)$/);
  });
});
