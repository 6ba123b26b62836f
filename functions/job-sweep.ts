import middy from '@middy/core';
import { sweepJobs } from '../lib/jobs/sweep.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';
import config from '../relay.config.ts';

/** Every minute: queues the jobs that nobody else would look at. */
export function createHandler(runtime: Runtime) {
  const { jobs, queue } = openStores(runtime);
  return middy().handler(async () => {
    const swept = await sweepJobs({ jobs, queue }, runtime.clock());
    for (const job of swept)
      runtime.log.info({ message: 'job queued by the sweep', jobId: job.id, status: job.status });
    return { swept: swept.length };
  });
}

export const handler = createHandler(systemRuntime(config, process.env));
