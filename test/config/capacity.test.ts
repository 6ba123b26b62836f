import { expect, it } from 'vitest';
import { tableLimits } from '../../lib/config/capacity.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { unitsOfIssue } from '../figures/write-units.ts';

/** The table's allowed write units a second for these events and calls, without the factor. */
function unitsFor(eventsPerSecond: number, callsPerSecond: number): number {
  const config = defineConfig({
    connections: { main: { limits: { perMinute: callsPerSecond * 60 } } },
    deployment: { stages: { dev: { httpApi: { requestsPerSecond: eventsPerSecond } } } },
  });
  const { dev } = config.deployment.stages;
  if (!dev) throw new Error('the stage is missing');
  return tableLimits(config, dev).write / 2;
}

it('the throughput of the table is enough for issues of 30,000 bytes, and not for much more', async () => {
  const { toTake, write } = await unitsOfIssue(30_000);
  for (const [allowed, needed] of [
    [unitsFor(2, 1) - unitsFor(1, 1), toTake],
    [unitsFor(1, 2) - unitsFor(1, 1), write],
  ] as const) {
    expect(allowed).toBeGreaterThanOrEqual(needed);
    expect(allowed).toBeLessThan(needed * 1.2);
  }
});
