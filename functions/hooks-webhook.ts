import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { endingCalls, IN_WEBHOOKS } from '../lib/aws-limits.ts';
import { receiveHook } from '../lib/intake/hooks/receive-hook.ts';
import { ensureTime, openStores, prepare, type Runtime } from '../lib/runtime.ts';
import { httpErrors, type RawRequest, rawBody } from '../lib/state/http/function-url.ts';

/** Most senders give up after ten seconds or more. */
const CALLS_END_MS = 8_000;

/** Receives requests of other tools to the team's webhooks: verifies them, stores their jobs, and then answers. */
export function createHandler(runtime: Runtime) {
  const { log } = runtime;
  const stores = openStores(runtime, IN_WEBHOOKS);
  prepare(runtime, stores, ['hooks']);
  const { table, clock } = stores;
  const options = { ...runtime, ...stores, clock, now: () => ensureTime(table, log).then(clock) };
  return endingCalls(
    middy<RawRequest, APIGatewayProxyStructuredResultV2>()
      .use(httpErrors(log))
      .use(rawBody())
      .handler((request) => receiveHook(request, options)),
    CALLS_END_MS,
  );
}
