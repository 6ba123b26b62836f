import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import Provider from 'oidc-provider';
import { expect, it, vi } from 'vitest';
import { portOf } from '../service/partner/client-at-noon.ts';
import { mira, REDIRECT_URI, startWorld } from './world.ts';

const SCOPES = ['mcp:use', 'mcp:timelogs.write'];

/** oidc-provider, with an MCP endpoint that has one tool. */
async function startInstance() {
  const server = createServer();
  const url = `http://127.0.0.1:${await portOf(server)}`;
  const resource = `${url}/mcp/partner`;
  // oidc-provider warns that its sign-in pages are for development.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const provider = new Provider(url, {
    scopes: SCOPES,
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          audience,
          scope: SCOPES.join(' '),
          accessTokenTTL: 3_600,
          accessTokenFormat: 'opaque',
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: { Interaction: 600, Session: 600, Grant: 86_400, AccessToken: 3_600, RefreshToken: 86_400 },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    cookies: { keys: ['of the tests'] },
  });
  const answerOidc = provider.callback();
  server.on('request', async (request, response) => {
    if (request.url === '/.well-known/oauth-protected-resource/mcp/partner') {
      const document = { resource, authorization_servers: [url], scopes_supported: SCOPES };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      return;
    }
    if (request.url !== '/mcp/partner') return void answerOidc(request, response);
    const token = await provider.AccessToken.find(String(request.headers.authorization).replace('Bearer ', ''));
    if (token?.aud !== resource) {
      const error = request.headers.authorization ? ' error="invalid_token"' : '';
      response.writeHead(401, { 'www-authenticate': `Bearer${error}` }).end();
      return;
    }
    const { id, method, params } = JSON.parse(await text(request));
    const results: Record<string, object> = {
      initialize: { protocolVersion: params?.protocolVersion },
      'tools/call': { content: [{ type: 'text', text: `as ${token.accountId}` }] },
    };
    const result = results[method];
    if (!result) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  return { url, provider };
}

/** Signs in and consents on the pages of oidc-provider. @returns the query of the callback */
async function signIn(authorizationUrl: string, login: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let url = authorizationUrl;
  let form: URLSearchParams | undefined;
  for (let steps = 0; steps < 12; steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    form = undefined;
    const location = response.headers.get('location');
    if (location?.startsWith(REDIRECT_URI)) return new URL(location).searchParams;
    if (location !== null) {
      url = new URL(location, url).href;
      continue;
    }
    const page = await response.text();
    const [, action = ''] = /<form[^>]* action="([^"]*)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    url = new URL(action, url).href;
    form = new URLSearchParams({ prompt, login, password: 'any' });
  }
  throw new Error('the sign-in leads nowhere');
}

it('links, calls, refreshes and links again at a third-party authorization server', async () => {
  const { url, provider } = await startInstance();
  const world = await startWorld(url);
  const worker = await world.worker();
  const link = async () => {
    const begun = await worker.link.begin(REDIRECT_URI);
    return worker.grants.link(mira, await worker.link.finish(begun.pending, await signIn(begun.url, 'mira')));
  };
  const call = async () => (await worker.tools.call(mira, 'sent once', 'whoami', {})).texts;

  const first = await link();
  expect(first).toMatchObject({ issuer: url, scopes: SCOPES });
  expect(await call()).toEqual(['as mira']);

  // Only the relay's clock moves on, so that the relay refreshes early.
  world.clock.now += 3_600_000;
  expect(await call()).toEqual(['as mira']);
  const grant = await world.grant();
  expect(grant?.version).not.toBe(first.version);

  const { clientId } = await link();
  expect(await provider.Client.find(clientId)).toMatchObject({ tokenEndpointAuthMethod: 'none' });
  expect(await call()).toEqual(['as mira']);
});
