import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { openMcpEndpoint } from '../lib/as-person/grants/mcp-endpoint.ts';
import { openStores, systemRuntime } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { startLocalStack } from '../local/stack.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { linkAccount, miraInSlack } from '../test/as-person/linked.ts';
import { exampleConfig } from '../test/relay.ts';
import { GRANTS_KEY } from '../test/requests.ts';
import { amount, type Figure, median, medianRatio, type Options } from './figure.ts';

const WARM_UP_CALLS = 50;
const CALLS = 300;
const REFRESHES = 60;
const AIM_WARM_MS = 20;
const AIM_REFRESH_MS = 50;
/** An access token lives for an hour. */
const LONGER_THAN_A_TOKEN_MS = 2 * 3_600_000;
/** High enough that nothing waits. */
const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000 };
const TOOL = 'list_projects';

/**
 * Calls the same tool of the same sandbox in turns, with the relay and with the SDK. The relay reads the grant from the
 * table, and each call takes a slot of the shared budget. A refresh also takes a lease, notes that it is about to send,
 * and saves the sealed tokens. The SDK keeps its tokens in memory and knows no limits.
 */
export async function* measureToolCalls({ folder, isTrial }: Options): AsyncGenerator<Figure> {
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  const stack = await startLocalStack({ tablePath: join(folder, 'dynamodb'), clock });
  const sandbox = await startSandbox({ clock, mcp: { enabled: true, rateLimit: LIMITS } });
  stack.secrets.put(`${stack.secretPrefix}partner/main`, { baseUrl: sandbox.url, ...sandbox.keys[0] });
  stack.secrets.put(`${stack.secretPrefix}grants`, GRANTS_KEY);
  Object.assign(process.env, stack.variables);
  const stores = openStores({ ...systemRuntime(exampleConfig(), process.env), clock });
  const peer = await connectPeer(sandbox);
  try {
    await linkAccount({ stores, clock: { now: clock() }, sandbox });
    const { tools } = await openMcpEndpoint({
      ...stores,
      connection: 'main',
      limits: LIMITS,
      lane: 'interactive',
      clock,
      randomBytes,
      budget: createBudget({ table: stores.table, clock }),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      random: Math.random,
      fetch: globalThis.fetch,
      waitUntil: async (at, why) => {
        throw new Error(`the bench waits until ${at}: ${why}`);
      },
      sessions: new Map(),
    });
    /** @param prepare runs before each pair of calls */
    const callBoth = async (calls: number, prepare = () => {}): Promise<Passed> => {
      const passed: Passed = { here: [], peer: [] };
      for (let i = 0; i < calls; i++) {
        prepare();
        passed.here.push(await millisecondsOf(() => tools.call(miraInSlack, 'repeatable', TOOL, {})));
        passed.peer.push(await millisecondsOf(() => peer.callTool({ name: TOOL, arguments: {} })));
      }
      return passed;
    };

    await callBoth(isTrial ? 1 : WARM_UP_CALLS);
    yield compare('a tool call when warm', await callBoth(isTrial ? 1 : CALLS), AIM_WARM_MS);
    const count = isTrial ? 1 : REFRESHES;
    const refreshed = await callBoth(count, () => {
      aheadMs += LONGER_THAN_A_TOKEN_MS;
    });
    const refreshes = sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token')).length;
    if (refreshes !== 2 * count) throw new Error(`there were ${refreshes} refreshes`);
    yield compare('a tool call with a refresh', refreshed, AIM_REFRESH_MS);
  } finally {
    await peer.close();
    await Promise.all([stack.close(), sandbox.close()]);
  }
}

/** The time of each call, in milliseconds. */
interface Passed {
  here: number[];
  peer: number[];
}

async function millisecondsOf(call: () => Promise<{ isError?: boolean | undefined }>): Promise<number> {
  const startMs = performance.now();
  const { isError } = await call();
  const passedMs = performance.now() - startMs;
  if (isError) throw new Error('the tool failed');
  return passedMs;
}

function compare(name: string, { here, peer }: Passed, atMost: number): Figure {
  const detail = `${medianRatio(here, peer).toFixed(1)} times the SDK's ${amount(median(peer), 'ms')}`;
  return { name, value: median(here), unit: 'ms', aim: { atMost }, detail };
}

/** Connects the SDK's client with its own tokens in memory. */
async function connectPeer({ mcp, url: issuer }: Sandbox): Promise<Client> {
  const [person] = mcp.people;
  const { client_id, ...granted } = mcp.grant(person?.email ?? '');
  let kept: StoredOAuthTokens = { ...granted, issuer };
  const authProvider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1/',
    clientMetadata: { redirect_uris: ['http://127.0.0.1/'] },
    clientInformation: () => ({ client_id, issuer }),
    tokens: () => kept,
    saveTokens(tokens) {
      kept = tokens;
    },
    redirectToAuthorization() {
      throw new Error('the SDK wants another link');
    },
    saveCodeVerifier() {},
    codeVerifier: () => '',
  };
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp.url), { authProvider }));
  return client;
}
