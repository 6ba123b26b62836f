import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { createGrants } from '../lib/as-person/grants/grants.ts';
import { createVault } from '../lib/as-person/grants/vault.ts';
import { createLinkRequests } from '../lib/as-person/linking/link-requests.ts';
import { openStores, systemRuntime } from '../lib/runtime.ts';
import { functionUrlEvent } from '../local/http-front.ts';
import { startLocalStack } from '../local/stack.ts';
import ownConfig from '../relay.config.ts';
import { defaultKey } from '../sandbox/sandbox.ts';
import { type Bundle, bundleFunction, bundlePeer } from './bundle.ts';
import { type ComparedColdStarts, compareColdStarts, PROCESSES, partsOf } from './cold-start.ts';
import { amount, type Findings, percent } from './figures.ts';

/** What a worker needs for nothing but linked accounts; the steps and forms that use it stay. */
const OF_LINKED_ACCOUNTS = /[\\/]lib[\\/](mcp|grants)[\\/]/;
const AIM_GROWTH_RATIO = 0.25;
const AIM_COLD_GROWTH_RATIO = 1.1;
const AIM_KB = 500;
const AIM_PAGE_MS = 300;

const [connection = 'main'] = Object.keys(ownConfig.connections);
const config = {
  ...ownConfig,
  connections: Object.fromEntries(
    Object.entries(ownConfig.connections).map(([name, one]) => [
      name,
      { ...one, mcp: { ...one.mcp, link: 'offered' as const } },
    ]),
  ),
};

/** What linked accounts add to the worker, with and without them in turns; and the function of the pages. */
export async function measureLinkedAccounts(folder: string): Promise<Findings> {
  const worker = await bundleFunction('job-worker', folder, { config });
  const without = await bundleFunction('job-worker', folder, { config, without: OF_LINKED_ACCOUNTS });
  const pages = await bundleFunction('account-link', folder, { config });
  const peer = await bundlePeer('mcp-client', folder);
  const stack = await startLocalStack({ tablePath: join(folder, 'linked-accounts') });
  try {
    const { variables } = stack;
    const partner = { baseUrl: 'https://pm.example.com', ...defaultKey };
    stack.secrets.put(`${stack.secretPrefix}partner/${connection}`, partner);
    stack.secrets.put(`${stack.secretPrefix}grants`, { key: 'a key of the bench, long enough for it' });
    Object.assign(process.env, variables);
    const isWorker = (answer: object) => 'batchItemFailures' in answer;
    const workers = await compareColdStarts(
      {
        here: { path: worker.path, variables, isExpected: isWorker },
        peer: { path: without.path, variables, isExpected: isWorker },
      },
      () => ({ Records: [] }),
      folder,
    );
    const start = await startOfLink();
    const isPage = ({ statusCode }: APIGatewayProxyStructuredResultV2) => statusCode === 200;
    const links = await compareColdStarts(
      {
        here: { path: pages.path, variables, isExpected: isPage },
        peer: { path: peer.path, variables: {}, isExpected: isPage },
      },
      () => start,
      folder,
    );
    return findings({ worker, without, pages, peer }, workers, links);
  } finally {
    await stack.close();
  }
}

/** The request for the first page of a link. It changes nothing, so every process gets the same one. */
async function startOfLink(): Promise<object> {
  const { table, secrets } = openStores(systemRuntime(config, process.env));
  const grants = createGrants(table, createVault(secrets, randomBytes), Date.now);
  const ticket = await createLinkRequests(table, grants, Date.now, randomBytes).begin({
    ...{ holder: { in: 'slack', id: 'U0BENCH01' }, connection, name: 'Mira Novak' },
    redirectUri: 'https://relay.example.com/link/callback',
  });
  const request = { method: 'GET', headers: {}, url: `/start?ticket=${encodeURIComponent(ticket)}` };
  return functionUrlEvent(request, '/start', Buffer.alloc(0));
}

function findings(
  bundles: { worker: Bundle; without: Bundle; pages: Bundle; peer: Bundle },
  workers: ComparedColdStarts,
  links: ComparedColdStarts,
): Findings {
  const { worker, without, pages, peer } = bundles;
  const grownBytes = worker.bytes - without.bytes;
  const pagesKilobytes = pages.bytes / 1_000;
  return {
    figures: [
      {
        name: 'job-worker grew by',
        unit: 'KB',
        here: grownBytes / 1_000,
        peer: peer.bytes / 1_000,
        ratio: grownBytes / peer.bytes,
        aim: `${AIM_GROWTH_RATIO * 100} % of the peer`,
        met: grownBytes / peer.bytes <= AIM_GROWTH_RATIO,
      },
      {
        name: 'its import and first event',
        unit: 'ms',
        here: workers.here.totalMs,
        peer: workers.peer.totalMs,
        ratio: workers.ratio,
        aim: `${Math.round(AIM_COLD_GROWTH_RATIO * 100)} % of without`,
        met: workers.ratio <= AIM_COLD_GROWTH_RATIO,
      },
      {
        name: 'bundled account-link',
        unit: 'KB',
        here: pagesKilobytes,
        peer: peer.bytes / 1_000,
        ratio: pages.bytes / peer.bytes,
        aim: `under ${AIM_KB} KB`,
        met: pagesKilobytes < AIM_KB,
      },
      {
        name: 'its import and first page',
        unit: 'ms',
        here: links.here.totalMs,
        peer: links.peer.totalMs,
        ratio: links.ratio,
        aim: `under ${AIM_PAGE_MS} ms`,
        met: links.here.totalMs < AIM_PAGE_MS,
      },
    ],
    notes: [
      `linked accounts: job-worker is ${amount(worker.bytes / 1_000, 'KB')}; built without lib/as-person and its libraries, ${amount(without.bytes / 1_000, 'KB')} (${percent(worker.bytes / without.bytes)})`,
      `  its first event is an empty batch; with them ${partsOf(workers.here)}, without ${partsOf(workers.peer)}`,
      `  the other peer is the official SDK, bundled the same way in a function that does nothing with it; ${PROCESSES} fresh processes each, in turns`,
      `  account-link: here ${partsOf(links.here)}, in which the link and the secret are read; peer ${partsOf(links.peer)}`,
    ],
  };
}
