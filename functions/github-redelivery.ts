import '../lib/without-jit.ts';
import middy from '@middy/core';
import { endingCalls } from '../lib/aws-limits.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import { createHooks } from '../lib/platforms/github/redelivery/hooks.ts';
import { createRedelivery } from '../lib/platforms/github/redelivery/redelivery.ts';
import { beginRun, openStores, type Runtime } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';

/** Every 15 minutes: asks GitHub to redeliver failed deliveries. */
export function createHandler(runtime: Runtime) {
  const { config, custom, sleep, fetch, log, metrics } = runtime;
  const { table, clock, secrets } = openStores(runtime);
  const { apiUrl } = config.github;
  const github = createGithubClient({ apiUrl, secrets, clock, fetch });
  const run = createRedelivery({ github, apiUrl, custom, hooks: createHooks(table), table, clock, sleep, log });
  return endingCalls(
    middy<ScheduleEvent>().handler(async () => {
      await beginRun('github-redelivery', table, log);
      const report = await run();
      metrics.record({ DeliveriesGivenUp: report.givenUp, HooksRefused: report.refused });
      return report;
    }),
  );
}
