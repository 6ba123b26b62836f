import '../lib/without-jit.ts';
import middy from '@middy/core';
import config from '#relay.config';
import { createGithubClient } from '../lib/github/github-client.ts';
import { createHooks } from '../lib/github/hooks.ts';
import { createRedelivery } from '../lib/github/redelivery.ts';
import { createRedeliveryApi } from '../lib/github/redelivery-api.ts';
import { createFailedDeliveries } from '../lib/github/redelivery-store.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';

/** As long as GitHub itself takes at most. */
const CALL_TIMEOUT_MS = 10_000;

/** Every quarter of an hour: has GitHub deliver again what did not arrive. */
export function createHandler(runtime: Runtime) {
  const { config, clock, sleep, fetch, log, metrics } = runtime;
  const { table, secrets } = openStores(runtime);
  const github = createGithubClient({ apiUrl: config.github.apiUrl, secrets, fetch, timeoutMs: CALL_TIMEOUT_MS });
  const redelivery = createRedelivery({
    hooks: createHooks(table, clock, log),
    failures: createFailedDeliveries(table, clock),
    api: createRedeliveryApi(github, clock),
    ...{ clock, sleep, log },
  });
  return middy().handler(async () => {
    const report = await redelivery.run();
    metrics.record({ DeliveriesGivenUp: report.givenUp, HooksRefused: report.refused });
    return report;
  });
}

export const handler = createHandler(systemRuntime(config, process.env));
