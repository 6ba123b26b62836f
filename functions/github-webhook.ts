import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import config from '#relay.config';
import { createHooks } from '../lib/github/hooks.ts';
import { verifiedByGithub } from '../lib/github/verified.ts';
import { httpErrors, type RawRequest, rawBody } from '../lib/http/function-url.ts';
import { receiveDelivery } from '../lib/intake/receive-delivery.ts';
import { createTurns } from '../lib/people/turns.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';

/** Receives GitHub's deliveries at a function URL: verifies them, stores them, and then answers. */
export function createHandler(runtime: Runtime) {
  const { config, clock, log, metrics } = runtime;
  const { table, secrets, jobs, queue, links } = openStores(runtime);
  const repositories = config.github.repositories.map(({ name }) => name);
  const turns = createTurns(table, jobs, clock);
  const hooks = createHooks({ table, clock, log, repositories });
  return middy<RawRequest, APIGatewayProxyStructuredResultV2>()
    .use(httpErrors(log))
    .use(rawBody())
    .use(verifiedByGithub(secrets))
    .handler((request) => receiveDelivery(request, { config, clock, log, metrics, jobs, queue, links, hooks, turns }));
}

export const handler = createHandler(systemRuntime(config, process.env));
