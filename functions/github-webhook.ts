import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { endingCalls, IN_WEBHOOKS } from '../lib/aws-limits.ts';
import { createJobSignatures } from '../lib/engine/record/job-signatures.ts';
import { receiveDelivery } from '../lib/intake/github/receive-delivery.ts';
import { createLinks } from '../lib/links/links.ts';
import { createNoteHook } from '../lib/platforms/github/redelivery/note-hook.ts';
import { verifiedByGithub } from '../lib/platforms/github/verified.ts';
import { ensureTime, openStores, prepare, type Runtime } from '../lib/runtime.ts';
import { httpErrors, type RawRequest, rawBody } from '../lib/state/http/function-url.ts';

/** GitHub gives up after ten seconds. https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries */
const CALLS_END_MS = 8_000;

/** Receives GitHub's deliveries at a function URL: verifies them, stores them, and then answers. */
export function createHandler(runtime: Runtime) {
  const { config, custom, log, metrics } = runtime;
  const stores = openStores(runtime, IN_WEBHOOKS);
  prepare(runtime, stores, ['github-webhook']);
  const { table, clock, secrets, jobs, queue } = stores;
  const links = createLinks(table, clock);
  const repositories = config.github.repositories.map(({ name }) => name);
  const noteHook = createNoteHook({ table, clock, log, repositories });
  const signatures = createJobSignatures(secrets, config, clock);
  const options = { config, custom, clock, log, metrics, jobs, queue, signatures, links, noteHook, table };
  return endingCalls(
    middy<RawRequest, APIGatewayProxyStructuredResultV2>()
      .use(httpErrors(log))
      .use(rawBody())
      .use(verifiedByGithub(secrets))
      // A delivery that stores nothing is answered without the table. Storing fails by itself if the table does.
      .before(() => ensureTime(table, log).catch(() => {}))
      .handler((request) => receiveDelivery(request, options)),
    CALLS_END_MS,
  );
}
