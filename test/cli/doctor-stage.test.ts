import { describe, expect, it } from 'vitest';
import { judgeConcurrency } from '../../cli/doctor/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';

describe('the concurrency of the account', () => {
  const judge = (limit: number, also: Partial<RelayConfigInput> = {}) =>
    judgeConcurrency(defineConfig({ connections: { main: {} }, ...also }), limit);

  it('the quota of a new account is too small for the webhooks', () => {
    const { verdict, detail } = judge(10, { slack: { connection: 'main' } });
    expect(verdict).toBe('bad');
    expect(detail).toMatch(/^10, but the relay needs up to 34 \(10 for the worker, 20 for the webhooks, 4 for/);
    expect(detail).toMatch(/Service Quotas/);
  });

  it('the quota of any other account is sufficient', () => {
    expect(judge(1_000).verdict).toBe('good');
  });

  it('the quota must leave a hundred executions unreserved', () => {
    const deployment = { reservedConcurrency: { webhook: 20, worker: 10 } };
    expect(judge(129, { deployment }).verdict).toBe('bad');
    expect(judge(130, { deployment }).verdict).toBe('good');
  });
});
