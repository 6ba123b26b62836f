import { describe, expect, it } from 'vitest';
import { judgeConcurrency } from '../../cli/doctor/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';

describe('the concurrency of the account', () => {
  const judge = (limit: number, also: Partial<RelayConfigInput> = {}) =>
    judgeConcurrency(defineConfig({ connections: { main: {} }, ...also }), limit);

  it('of a new account leaves nothing for the webhooks', () => {
    const { verdict, detail } = judge(10, { slack: { connection: 'main' } });
    expect(verdict).toBe('bad');
    expect(detail).toMatch(/^10, but the relay needs up to 34 \(10 for the worker, 20 for the webhooks, 4 for/);
    expect(detail).toMatch(/Service Quotas/);
  });

  it('of any other account is enough', () => {
    expect(judge(1_000).verdict).toBe('good');
  });

  it('must leave a hundred beside what is reserved', () => {
    const deployment = { reservedConcurrency: { webhook: 20, worker: 10 } };
    expect(judge(129, { deployment }).verdict).toBe('bad');
    expect(judge(130, { deployment }).verdict).toBe('good');
  });
});
