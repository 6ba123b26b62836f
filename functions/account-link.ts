import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { TryLater } from '../lib/as-person/grants/errors.ts';
import { createGrants } from '../lib/as-person/grants/grants.ts';
import { openMcpEndpoint } from '../lib/as-person/grants/mcp-endpoint.ts';
import { createVault } from '../lib/as-person/grants/vault.ts';
import { type Asker, createOpenedRequests } from '../lib/as-person/linking/grant-requests.ts';
import { pageErrors } from '../lib/as-person/linking/page-errors.ts';
import { receiveBrowser, takeOfShare } from '../lib/as-person/linking/receive-browser.ts';
import { endingCalls } from '../lib/aws-limits.ts';
import { openStores, type Runtime } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { HttpError, type RawRequest, rawBody } from '../lib/state/http/function-url.ts';

/** A person sees an empty page while the function waits. */
const LONGEST_WAIT_MS = 5_000;
/** Lambda stops the function after 30 s. */
const CALLS_END_MS = 25_000;

/** Shows the pages where people link their accounts, and redirects them to the service and back. */
export function createHandler(runtime: Runtime) {
  const { config, random, randomBytes, sleep, log } = runtime;
  const { table, secrets, clock } = openStores(runtime);
  const vault = createVault(secrets, randomBytes);
  const links = createOpenedRequests({ table, vault, grants: createGrants(table, vault, clock), clock, randomBytes });
  const budget = createBudget({ table, random, sleep, warn: log.warn });

  async function mcp(connection: string) {
    const { mcp } = config.connections[connection] ?? {};
    if (!mcp || mcp.accounts === 'off') throw new HttpError(404, `No accounts are linked on '${connection}' any more.`);
    return openMcpEndpoint({
      ...runtime,
      clock,
      table,
      secrets,
      budget,
      connection,
      limits: mcp.limits,
      addressFrom: 'instance',
      lane: 'interactive',
      async waitUntil(at, why) {
        if (at - clock() > LONGEST_WAIT_MS) throw new TryLater(why, { at });
        await sleep(Math.max(0, at - clock()));
      },
    });
  }

  const takeShare = (asker: Asker) => takeOfShare(asker, table, clock);
  const options = { links, takeShare, mcp, budget, command: config.slack?.command ?? '/pm', log };
  return endingCalls(
    middy<RawRequest, APIGatewayProxyStructuredResultV2>()
      .use(pageErrors(log, config.contact))
      .use(rawBody())
      .handler((request) => receiveBrowser(request, options)),
    CALLS_END_MS,
  );
}
