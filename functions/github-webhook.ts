import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import config from '#relay.config';
import { receiveDelivery } from '../lib/github/receive-delivery.ts';
import { verifiedByGithub } from '../lib/github/verified.ts';
import { httpErrors, type RawRequest, rawBody } from '../lib/http/function-url.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';

/** Takes GitHub's deliveries at a function URL: verified, then safe, then answered. */
export function createHandler(runtime: Runtime) {
  const { config, log, metrics } = runtime;
  const { secrets, jobs, queue, links } = openStores(runtime);
  return middy<RawRequest, APIGatewayProxyStructuredResultV2>()
    .use(httpErrors(log))
    .use(rawBody())
    .use(verifiedByGithub(secrets))
    .handler((request) => receiveDelivery(request, { config, log, metrics, jobs, queue, links }));
}

export const handler = createHandler(systemRuntime(config, process.env));
