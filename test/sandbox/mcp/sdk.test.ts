import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tools } from '../../../sandbox/mcp/tools/tools.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { consent } from './consent.ts';
import { mira, redirectUri, startMcp } from './mcp-client.ts';

const checkout = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

/** What an application of the official SDK has to bring: somewhere to keep things, and a browser. */
class Application implements OAuthClientProvider {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { redirect_uris: [redirectUri], client_name: 'Official client' };
  /** Where the person's browser was sent. */
  opened: URL | undefined;
  kept: StoredOAuthTokens | undefined;
  registered: StoredOAuthClientInformation | undefined;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  clientInformation() {
    return this.registered;
  }
  saveClientInformation(information: StoredOAuthClientInformation) {
    this.registered = information;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.opened = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovered = state;
  }
  discoveryState() {
    return this.#discovered;
  }
  invalidateCredentials(scope: string) {
    if (scope === 'all' || scope === 'client') this.registered = undefined;
    if (scope === 'all' || scope === 'tokens') this.kept = undefined;
  }
}

function transportTo(sandbox: Sandbox, authProvider: OAuthClientProvider) {
  const soon = { initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1, maxRetries: 3 };
  return new StreamableHTTPClientTransport(new URL(sandbox.mcp.url), { authProvider, reconnectionOptions: soon });
}

async function authorize(sandbox: Sandbox, application: Application, choices = {}): Promise<void> {
  const transport = transportTo(sandbox, application);
  const client = new Client({ name: 'test', version: '1' });
  await expect(client.connect(transport)).rejects.toThrow('Unauthorized');
  if (!application.opened) throw new Error('no browser was opened');
  const back = await consent(sandbox, application.opened, choices);
  await transport.finishAuth(back.searchParams);
}

async function connect(sandbox: Sandbox, application: Application): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transportTo(sandbox, application));
  onTestFinished(() => client.close());
  return client;
}

async function linked(...[options, choices]: [Parameters<typeof startMcp>[0]?, object?]) {
  const { sandbox, time } = await startMcp(options);
  const application = new Application();
  await authorize(sandbox, application, choices);
  return { sandbox, time, application, client: await connect(sandbox, application) };
}

describe('the client of the official SDK', () => {
  it('goes all the way', async () => {
    const { sandbox, client } = await linked({});
    expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    expect((await client.listTools()).tools).toHaveLength(tools.length);
    const result = await client.callTool({ name: 'log_time', arguments: { task: checkout, hours: 2 } });
    expect(result.isError).toBe(false);
    expect(sandbox.data.timelogs.at(-1)).toMatchObject({ user_id: sandbox.mcp.people[0]?.user_id, hours: 2 });
  });

  it('refreshes when an hour is over, and goes on', async () => {
    const { sandbox, time, client } = await linked();
    // The client refreshes without a lock: its two requests at once would use the same refresh token.
    while (!sandbox.mcp.audit.some(({ method, status }) => method === 'GET' && status === 405)) {
      await new Promise(setImmediate);
    }
    time.now += 3_600_000;
    expect((await client.callTool({ name: 'list_projects', arguments: {} })).isError).toBe(false);
    expect(sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token'))).toHaveLength(1);
  });

  it.each([
    ['the grant was revoked', (sandbox: Sandbox) => sandbox.mcp.revokeGrants()],
    ['the client was purged, and registers again', purgeAndExpire],
  ])('sends the person to the browser when %s', async (_, happen) => {
    const { sandbox, time, application, client } = await linked();
    application.opened = undefined;
    happen(sandbox, time);
    await expect(client.callTool({ name: 'list_projects', arguments: {} })).rejects.toThrow();
    const back = await consent(sandbox, application.opened ?? '');
    expect(back.searchParams.has('code')).toBe(true);
  });

  it('is told which scope a tool lacks', async () => {
    const { client } = await linked({}, { scopes: ['mcp:use'] });
    const call = client.callTool({ name: 'log_time', arguments: { task: checkout, hours: 2 } });
    await expect(call).rejects.toThrow('mcp:timelogs.write');
  });

  it.each([
    ['auto', '2025-11-25'],
    [{ pin: '2026-07-28' }, undefined],
  ] as const)('that speaks a newer revision (%o) gets %s', async (mode, revision) => {
    const { sandbox } = await startMcp();
    const headers = { authorization: `Bearer ${sandbox.mcp.grant(mira).access_token}` };
    const transport = new StreamableHTTPClientTransport(new URL(sandbox.mcp.url), { requestInit: { headers } });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    onTestFinished(() => client.close());
    const connected = client.connect(transport).then(() => client.getNegotiatedProtocolVersion());
    if (revision === undefined) await expect(connected).rejects.toThrow('Version negotiation failed');
    else expect(await connected).toBe(revision);
  });
});

function purgeAndExpire(sandbox: Sandbox, time: { now: number }): void {
  sandbox.mcp.purgeClients();
  time.now += 3_600_000;
}
