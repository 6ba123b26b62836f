import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { openAssistant } from '../lib/as-person/grants/assistant.ts';
import { openStores, systemRuntime } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { startLocalStack } from '../local/stack.ts';
import config from '../relay.config.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { linkAccount, miraInSlack } from '../test/as-person/linked.ts';
import type { Findings } from './figures.ts';
import { median } from './measure.ts';

const WARM_UP_CALLS = 50;
const CALLS = 300;
const REFRESHES = 60;
const AIM_WARM_MS = 20;
const AIM_REFRESH_MS = 50;
/** An access token lives for an hour. */
const LONGER_THAN_A_TOKEN_MS = 2 * 3_600_000;
/** Never reached, so that nothing waits. */
const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000 };
const TOOL = 'list_projects';

/** Milliseconds of a call of each side. */
interface Pair {
  here: number;
  peer: number;
}

/** A tool call as a person, warm and with a refresh, against the official SDK: the same tool of the same sandbox, in turns. */
export async function measureToolCalls(folder: string): Promise<Findings> {
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  const stack = await startLocalStack({ tablePath: join(folder, 'tool-calls'), clock });
  const sandbox = await startSandbox({ clock, mcp: { enabled: true, rateLimit: LIMITS } });
  stack.secrets.put(`${stack.secretPrefix}partner/main`, { baseUrl: sandbox.url, ...sandbox.keys[0] });
  stack.secrets.put(`${stack.secretPrefix}grants`, { key: 'a key of the bench, long enough for it' });
  Object.assign(process.env, stack.variables);
  const stores = openStores({ ...systemRuntime(config, process.env), clock });
  const peer = await connectPeer(sandbox);
  try {
    await linkAccount({ stores, clock: { now: clock() }, sandbox });
    const { tools } = await openAssistant({
      ...{ connection: 'main', ...stores, limits: LIMITS, lane: 'interactive', clock, randomBytes },
      budget: createBudget({ table: stores.table, clock }),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      random: Math.random,
      fetch: globalThis.fetch,
      waitUntil: async (at, why) => {
        throw new Error(`the bench waits until ${at}: ${why}`);
      },
      sessions: new Map(),
    });
    const pairOf = async (): Promise<Pair> => ({
      here: await millisecondsOf(() => tools.call(miraInSlack, 'repeatable', TOOL, {})),
      peer: await millisecondsOf(() => peer.callTool({ name: TOOL, arguments: {} })),
    });

    for (let i = 0; i < WARM_UP_CALLS; i++) await pairOf();
    const warm: Pair[] = [];
    for (let i = 0; i < CALLS; i++) warm.push(await pairOf());
    const refreshed: Pair[] = [];
    for (let i = 0; i < REFRESHES; i++) {
      aheadMs += LONGER_THAN_A_TOKEN_MS;
      refreshed.push(await pairOf());
    }
    const refreshes = sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token')).length;
    if (refreshes !== 2 * REFRESHES) throw new Error(`there were ${refreshes} refreshes`);
    return findings(warm, refreshed);
  } finally {
    await peer.close();
    await Promise.all([stack.close(), sandbox.close()]);
  }
}

async function millisecondsOf(call: () => Promise<{ isError?: boolean | undefined }>): Promise<number> {
  const startMs = performance.now();
  const { isError } = await call();
  const passedMs = performance.now() - startMs;
  if (isError) throw new Error('the tool failed');
  return passedMs;
}

/** The SDK's client with tokens of its own, which it keeps in memory. */
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

function findings(warm: readonly Pair[], refreshed: readonly Pair[]): Findings {
  const figure = (name: string, pairs: readonly Pair[], aimMs: number) => {
    const here = median(pairs.map((pair) => pair.here));
    return {
      ...{ name, unit: 'ms' as const, here },
      peer: median(pairs.map(({ peer }) => peer)),
      ratio: median(pairs.map((pair) => pair.here / pair.peer)),
      ...{ aim: `under ${aimMs} ms`, met: here < aimMs },
    };
  };
  return {
    figures: [
      figure('a tool call when warm', warm, AIM_WARM_MS),
      figure('a tool call with a refresh', refreshed, AIM_REFRESH_MS),
    ],
    notes: [
      `tool calls: the peer is the client of the official SDK, with its tokens in memory and no limits; ${CALLS} calls and ${REFRESHES} refreshes each, in turns`,
      '  here the grant is read from the table, and each call takes a slot of the shared budget; a refresh also takes a lease,',
      '  notes that it is about to send, seals the tokens and saves them, each under a condition',
    ],
  };
}
