import '../lib/without-jit.ts';
import middy from '@middy/core';
import config from '#relay.config';
import { createBudget } from '../lib/budget/budget.ts';
import { createBreakers } from '../lib/connection/breakers.ts';
import { sweepJobs } from '../lib/jobs/sweep.ts';
import { createWaitingLines } from '../lib/jobs/waiting-line.ts';
import { recordState } from '../lib/metrics/relay-state.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';

/** Every minute: queues the jobs that nobody else would look at, and records how the relay stands. */
export function createHandler(runtime: Runtime) {
  const { config, clock, random, sleep, log, metrics } = runtime;
  const { table, jobs, queue } = openStores(runtime);
  const budget = createBudget(table, clock, random, sleep);
  const breakers = createBreakers({ table, clock, random });
  const lines = createWaitingLines({ jobs, queue, budget, breakers, clock });
  return middy().handler(async () => {
    const swept = await sweepJobs({ jobs, queue }, clock());
    for (const [name, { limits }] of Object.entries(config.connections)) await lines.moveOn({ name, limits });
    for (const job of swept) log.info({ message: 'job queued by the sweep', jobId: job.id, entity: job.entity });
    await recordState({ config, jobs, budget, breakers, metrics }, clock());
    metrics.record({ Heartbeat: 1 });
    return { swept: swept.length };
  });
}

export const handler = createHandler(systemRuntime(config, process.env));
