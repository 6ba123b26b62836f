import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { McpEndpoint } from '../../lib/as-person/grants/mcp-endpoint.ts';
import { consent } from '../sandbox/mcp/consent.ts';
import { portOf } from '../service/partner/client-at-noon.ts';
import { failureOf, mira, REDIRECT_URI, read, type SandboxWorld, startSandboxWorld, startWorld } from './world.ts';

const elsewhere = 'https://evil.example.com';
const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

/** Returns the callback after Mira's consent on the sandbox's pages. */
async function consented({ sandbox }: SandboxWorld, link: McpEndpoint['link']) {
  const { url, pending } = await link.begin(REDIRECT_URI);
  return { pending, searchParams: (await consent(sandbox, url)).searchParams };
}

describe('an instance that lies', () => {
  /** Changes fields of the metadata. */
  const says = (operation: string, fields: Record<string, unknown>) =>
    ({ kind: 'discovery', operation, fields }) as const;

  it.each<[string, Parameters<SandboxWorld['sandbox']['setFault']>[0], string]>([
    ['is about another resource', says(RESOURCE, { resource: `${elsewhere}/mcp` }), 'another resource'],
    ['names no authorization server', says(RESOURCE, { authorization_servers: null }), 'server is no URL'],
    ['names one over http', says(RESOURCE, { authorization_servers: ['http://evil.example.com'] }), 'is not https'],
    ['has another issuer', says(SERVER, { issuer: elsewhere }), 'another issuer'],
    ['has no issuer', says(SERVER, { issuer: null }), 'has no issuer'],
    ['has no S256', says(SERVER, { code_challenge_methods_supported: ['plain'] }), 'does not offer PKCE with S256'],
    ['says nothing of PKCE', says(SERVER, { code_challenge_methods_supported: null }), 'does not offer PKCE with S256'],
    ['has no token endpoint', says(SERVER, { token_endpoint: null }), 'has no token_endpoint'],
    ['has it on http', says(SERVER, { token_endpoint: 'http://evil.example.com/' }), 'token_endpoint is not https'],
    ['hides credentials', says(SERVER, { authorization_endpoint: 'https://u:p@a.example/' }), 'carries credentials'],
    ['registers no clients', says(SERVER, { registration_endpoint: null }), 'does not register clients'],
    ['redirects at discovery', { kind: 'login-redirect', operation: RESOURCE }, 'answered with a redirect'],
    ['has a page there', { kind: 'maintenance', status: 200, operation: RESOURCE }, 'else than a JSON object'],
    ['fails at discovery', { kind: 'server-error', operation: SERVER }, 'answered with status 500'],
    ['has a page at registration', { kind: 'maintenance', status: 200, operation: '/oauth/register' }, 'no JSON'],
    ['fails at registration', { kind: 'server-error', operation: '/oauth/register' }, 'answered with status 500'],
    ['redirects at the endpoint', { kind: 'login-redirect', operation: '/mcp/partner' }, 'is the base URL right?'],
  ])('%s: nobody is redirected to it, and nothing is stored', async (_, fault, message) => {
    const world = await startSandboxWorld();
    world.sandbox.setFault(fault);
    const { link } = await world.worker();
    await expect(link.begin(REDIRECT_URI)).rejects.toThrow(message);
    expect(await world.grant()).toBeUndefined();
  });

  it.each([
    ['a page', { kind: 'maintenance', status: 200 }, /token exchange|oauth\/token/],
    ['nothing', { kind: 'empty-body' }, /oauth\/token/],
    ['a redirect', { kind: 'login-redirect' }, /oauth\/token/],
    ['no answer', { kind: 'cut' }, /the connection was cut/],
  ] as const)('answers with %s at the token endpoint: nothing is linked', async (_, fault, message) => {
    const world = await startSandboxWorld();
    const { link } = await world.worker();
    const { pending, searchParams } = await consented(world, link);
    world.sandbox.setFault({ ...fault, operation: '/oauth/token' });
    await expect(link.finish(pending, searchParams)).rejects.toThrow(message);
    expect(await world.grant()).toBeUndefined();
  });

  it('answers with unusable tokens: the error does not repeat them', async () => {
    const world = await startSandboxWorld();
    const fetch: typeof globalThis.fetch = async (url, init) =>
      String(url).endsWith('/oauth/token')
        ? Response.json({ access_token: 'a-secret', refresh_token: 'another-secret', token_type: 7 })
        : globalThis.fetch(url, init);
    const { link } = await world.worker({ fetch });
    const { pending, searchParams } = await consented(world, link);
    const error = await failureOf(link.finish(pending, searchParams));
    expect(error).toMatchObject({ name: 'InstanceFault' });
    expect(inspect(error, { depth: 10 })).not.toContain('secret');
  });

  it('repeats secrets in its errors: the relay does not', async () => {
    const sent: string[] = [];
    let repeats = 'nothing';
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const body = new URLSearchParams(String(init?.body));
      const token = new Headers(init?.headers).get('authorization')?.replace('Bearer ', '');
      const secrets = [token, ...['code', 'code_verifier', 'refresh_token'].map((name) => body.get(name))];
      const said = secrets.filter((secret) => typeof secret === 'string');
      if (!String(url).includes(repeats) || said.length === 0) return globalThis.fetch(url, init);
      sent.push(...said);
      const words = `not ${said.join(' ')}`;
      const error = repeats === '/mcp/partner' ? { code: -32_603, message: words } : 'invalid_grant';
      return Response.json({ jsonrpc: '2.0', id: null, error, error_description: words }, { status: 400 });
    };
    const world = await startSandboxWorld();
    const worker = await world.worker({ fetch });
    const { pending, searchParams } = await consented(world, worker.link);
    repeats = '/oauth/token';
    const errors = [await failureOf(worker.link.finish(pending, searchParams))];
    repeats = 'nothing';
    await world.link(worker);
    const call = () => failureOf(read(worker));
    repeats = '/mcp/partner';
    errors.push(await call());
    repeats = '/oauth/token';
    world.clock.now += 3_600_000;
    errors.push(await call());
    const told = inspect([errors, await world.grant()], { depth: 10 });
    expect(sent.length).toBeGreaterThanOrEqual(4);
    for (const secret of sent) expect(told).not.toContain(secret);
  });

  it('redirects the browser with another state or issuer: nothing is exchanged', async () => {
    const world = await startSandboxWorld();
    const { link } = await world.worker();
    const { pending, searchParams } = await consented(world, link);
    for (const [name, value] of [
      ['state', 'of-another-browser'],
      ['iss', 'https://evil.example.com'],
      // The metadata promise this parameter.
      ['iss', undefined],
    ] as const) {
      const changed = new URLSearchParams(searchParams);
      if (value === undefined) changed.delete(name);
      else changed.set(name, value);
      await expect(link.finish(pending, changed)).rejects.toThrow(`"${name}"`);
    }
    expect(await link.finish(pending, searchParams)).toMatchObject({ connection: 'main' });
  });

  it('has not enabled MCP: the person who links an account reads that', async () => {
    const world = await startSandboxWorld({ mcp: { enabled: false } });
    const { link } = await world.worker();
    const { url, pending } = await link.begin(REDIRECT_URI);
    const { headers } = await fetch(url, { redirect: 'manual' });
    const { searchParams } = new URL(headers.get('location') ?? '');
    await expect(link.finish(pending, searchParams)).rejects.toThrow('refused with access_denied');
  });

  it.each([
    ['no MCP at all', 404, {}, 'has no MCP endpoint there'],
    ['a challenge of another host', 401, { resource_metadata: `${elsewhere}/x` }, 'is not on http://127.0.0.1'],
    ['a challenge that is no URL', 401, { resource_metadata: 'x' }, 'resource_metadata of the challenge is no URL'],
    ['a challenge and no metadata', 401, {}, 'no OAuth metadata was found'],
  ] as const)('has %s', async (_, status, parameters, message) => {
    const server = createServer((request, response) => {
      const isEndpoint = request.url === '/mcp/partner';
      const challenge = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
      if (isEndpoint && status === 401) response.setHeader('www-authenticate', `Bearer ${challenge.join(', ')}`);
      response.writeHead(isEndpoint ? status : 404, { 'content-type': 'text/html' }).end('<!doctype html>');
    });
    const world = await startWorld(`http://127.0.0.1:${await portOf(server)}`);
    const { link } = await world.worker();
    await expect(link.begin(REDIRECT_URI)).rejects.toThrow(message);
    expect(await world.grant()).toBeUndefined();
  });

  const inPrivate = [
    '127.0.0.1 127.1 0x7f000001 0.0.0.0 10.1.2.3 172.20.0.1 192.168.0.10:8443 100.64.0.1 169.254.169.254 [::1] [fd00::1]',
    '[fe80::1] [::ffff:10.0.0.1] [64:ff9b::a00:1] [fec0::1] [::10.0.0.1] [::ffff:0:10.0.0.1] [2001:0:a00:1::1]',
    '[2002:a00:1::] localhost sso.localhost localhost.localdomain kubernetes.default.svc vault.internal. vault.internal..',
    'printer.local jenkins',
  ];
  const hosts = [
    ...inPrivate.flatMap((line) => line.split(' ')).map((host) => ({ host, isRefused: true })),
    ...['172.32.0.1', '[2606:4700::1]', 'sso.example.com'].map((host) => ({ host, isRefused: false })),
  ];
  it.each(hosts)(
    'a public instance with the authorization server $host makes the relay call a private network: refused $isRefused',
    async ({ host, isRefused }) => {
      const world = await startWorld('https://pm.example.com');
      const called: string[] = [];
      const fetch: typeof globalThis.fetch = async (url) => {
        const { host, pathname } = new URL(String(url));
        called.push(host);
        if (pathname === '/mcp/partner')
          return new Response('', { status: 401, headers: { 'www-authenticate': 'Bearer' } });
        const document = { resource: 'https://pm.example.com/mcp/partner', authorization_servers: [server] };
        return pathname.startsWith(RESOURCE) ? Response.json(document) : new Response('', { status: 404 });
      };
      const server = `https://${host}`;
      const { link } = await world.worker({ fetch });
      const why = isRefused ? 'is in a private network, and the instance is not' : 'no OAuth metadata was found';
      await expect(link.begin(REDIRECT_URI)).rejects.toThrow(why);
      expect(called.some((one) => one !== 'pm.example.com')).toBe(!isRefused);
    },
  );

  it('is not asked for the tools of a person without a linked account', async () => {
    const world = await startSandboxWorld();
    const { tools } = await world.worker();
    await expect(tools.list(mira)).rejects.toThrow('no account is linked');
    expect(world.sandbox.mcp.audit).toEqual([]);
  });
});
