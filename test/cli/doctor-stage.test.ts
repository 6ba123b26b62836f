import { expect, it } from 'vitest';
import { judgeConcurrency } from '../../cli/doctor/stage.ts';
import { defineConfig, type RelayConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { messageOf } from '../../lib/text.ts';

const slack = { slack: { connection: 'main' } };
const counted = (accountConcurrency: number) => ({ deployment: { stages: { prod: { accountConcurrency } } } });
const larger = {
  ...slack,
  connections: { main: { mcp: { accounts: 'offered' } } },
  deployment: { maxConcurrency: { interactive: 10, background: 45 } },
} satisfies Partial<RelayConfigInput>;

function judged(config: RelayConfig, limit: number, ofOthers = 0) {
  try {
    return { verdict: 'good', detail: judgeConcurrency(config, 'prod', { limit, ofOthers }) };
  } catch (error) {
    return { verdict: 'bad', detail: messageOf(error) };
  }
}

it.each<[number, Partial<RelayConfigInput>, 'good' | 'bad', RegExp]>([
  // A new account's quota is too small for the webhooks. It suffices, except for bursts, if the stage states it.
  [10, slack, 'bad', /^10, but the relay needs up to 34 \(10 for the worker, 20 for the 2 functions that are open/],
  [10, slack, 'bad', /Service Quotas.*Until then, write accountConcurrency: 10 under deployment.stages.prod/],
  [
    10,
    { ...slack, ...counted(10) },
    'good',
    /A burst of events needs up to 28 .*beyond the quota, webhooks are refused.*Service Quotas/,
  ],
  [9, counted(10), 'bad', /^9, but the relay needs/],
  [1_000, {}, 'good', /^/],
  // The need follows the configured concurrency and the deployed functions.
  [1_000, larger, 'good', /needs up to 224 \(55 for the worker, 165 for the 3 functions/],
  [1_000, larger, 'good', /write accountConcurrency: 1000 under deployment.stages.prod/],
  // The account must have the quota that the configuration states.
  [400, counted(500), 'bad', /up to 500/],
  [500, counted(500), 'good', /10 are reserved, and Lambda keeps 100 more free\)$/],
])('a concurrency of %i for a stage with %j is %s: %s', (limit, also, verdict, detail) => {
  const config = defineConfig({ connections: { main: {} }, ...also });
  expect(judged(config, limit)).toMatchObject({ verdict, detail: expect.stringMatching(detail) });
});

it('the relay cannot use executions that are reserved for other stacks', () => {
  const config = defineConfig({ connections: { main: {} }, ...counted(500) });
  expect(judged(config, 1_000, 500)).toMatchObject({
    verdict: 'good',
    detail: expect.stringMatching(/^500 of 1000, because/),
  });
  expect(judged(config, 1_000, 501)).toEqual({
    verdict: 'bad',
    detail: expect.stringMatching(/^499 of 1000, because 501 are reserved for others, but the relay needs up to 500/),
  });
  const advised = judged(defineConfig({ connections: { main: {} } }), 1_000, 300);
  expect(advised.detail).toMatch(/write accountConcurrency: 700 under deployment.stages.prod, and deploy$/);
});
