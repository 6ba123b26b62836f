import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import config from '#relay.config';
import { httpErrors, type RawRequest, rawBody } from '../lib/http/function-url.ts';
import { openSlackIntake } from '../lib/intake/open-slack-intake.ts';
import { receiveSlack } from '../lib/intake/receive-slack.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';
import { verifiedBySlack } from '../lib/slack/verified.ts';

/** Takes Slack's commands and interactions at a function URL: verified, then answered, what becomes a job once it is safe. */
export function createHandler(runtime: Runtime) {
  const { config, clock, log, metrics } = runtime;
  const stores = openStores(runtime);
  const intake = config.slack && openSlackIntake(runtime, config.slack, stores);
  return middy<RawRequest, APIGatewayProxyStructuredResultV2>()
    .use(httpErrors(log))
    .use(rawBody())
    .use(verifiedBySlack(stores.secrets, clock))
    .handler((request) => receiveSlack(request, { intake, log, metrics }));
}

export const handler = createHandler(systemRuntime(config, process.env));
