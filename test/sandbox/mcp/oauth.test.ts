import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder } from '../../new-folder.ts';
import { startAtNoon } from '../signed-request.ts';
import { Browser, consent } from './consent.ts';
import {
  authorization,
  link,
  McpClient,
  mira,
  redirectUri,
  refresh,
  register,
  startMcp,
  tokenRequest,
  tomasz,
} from './mcp-client.ts';

const studio = '2b7d9f04-8e31-4c65-a0f2-9d4b6c1e7a01';
const fieldTeam = '2b7d9f04-8e31-4c65-a0f2-9d4b6c1e7a02';
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe('discovery', () => {
  it('names the resource and its authorization server', async () => {
    const { sandbox } = await startMcp();
    const read = async (name: string) => (await fetch(`${sandbox.url}/.well-known/${name}`)).json();
    expect(await read('oauth-protected-resource')).toMatchObject({
      resource: `${sandbox.url}/mcp/partner`,
      authorization_servers: [sandbox.url],
    });
    const server = (await read('oauth-authorization-server')) as { scopes_supported: string[] };
    expect(server).toMatchObject({
      issuer: sandbox.url,
      authorization_endpoint: `${sandbox.url}/oauth/authorize`,
      token_endpoint: `${sandbox.url}/oauth/token`,
      registration_endpoint: `${sandbox.url}/oauth/register`,
      code_challenge_methods_supported: ['S256'],
    });
    expect(server.scopes_supported).toEqual(
      expect.arrayContaining([
        ...[
          'mcp:use',
          'mcp:epics.write',
          'mcp:sprints.read',
          'mcp:sprints.write',
          'mcp:context.read',
          'mcp:context.write',
        ],
        ...['mcp:documents.read', 'mcp:users.write', 'mcp:reports.read'],
      ]),
    );
  });

  it('is found under a base path, where the document and where the RFCs put it', async () => {
    const { sandbox } = await startAtNoon({ basePath: '/pm', mcp: { enabled: true } });
    const { origin } = new URL(sandbox.url);
    for (const url of [
      `${sandbox.url}/.well-known/oauth-authorization-server`,
      `${origin}/.well-known/oauth-authorization-server/pm`,
    ]) {
      expect(await (await fetch(url)).json()).toMatchObject({ issuer: sandbox.url });
    }
    const { tokens } = await link(sandbox);
    await expect(McpClient.connect(sandbox, tokens.access_token)).resolves.toBeDefined();
  });
});

describe('registration', () => {
  it('gives a public client an id and no secret', async () => {
    const { sandbox } = await startMcp();
    const { status, json } = await register(sandbox, {
      redirect_uris: ['https://relay.example/callback'],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ client_id: expect.any(String), token_endpoint_auth_method: 'none' });
    expect(json).not.toHaveProperty('client_secret');
  });
});

describe('the pages of an authorization', () => {
  it('lead to a code for the workspace and the scopes that the person chose', async () => {
    const { sandbox } = await startMcp();
    sandbox.mcp.enable(fieldTeam);
    const scopes = ['mcp:use', 'mcp:tasks.read'];
    const { tokens, back } = await link(sandbox, { email: tomasz, workspace: 'Northwind Field Team', scopes });
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'some state', iss: sandbox.url });
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'mcp:use mcp:tasks.read' });
    await expect(McpClient.connect(sandbox, tokens.access_token)).resolves.toBeDefined();
    expect(sandbox.data.grants).toMatchObject([{ workspace_id: fieldTeam, scopes }]);
  });

  it('offer only workspaces that have MCP enabled', async () => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox);
    await expect(consent(sandbox, url, { workspace: 'Northwind Field Team' })).rejects.toThrow('does not offer');
    await expect(consent(sandbox, url)).resolves.toBeDefined();
  });

  it('offer what the workspace allows of what the client asks for, and nothing that is reserved', async () => {
    const { sandbox } = await startMcp();
    sandbox.mcp.enable(undefined, ['mcp:use', 'mcp:tasks.read', 'mcp:tasks.write']);
    const scope = 'mcp:use mcp:tasks.write mcp:timelogs.write mcp:users.write no:such';
    const { tokens } = await link(sandbox, {}, { scope });
    expect(tokens.scope).toBe('mcp:use mcp:tasks.write');
  });

  it('have no scripts, and show the name of a client as text', async () => {
    const { sandbox } = await startMcp();
    const { json } = await register(sandbox, {
      redirect_uris: [redirectUri],
      client_name: '<script>alert(1)</script>',
    });
    const { url } = await authorization(sandbox, { client_id: json.client_id });
    const browser = new Browser();
    await browser.open(url.href);
    expect(browser.page).toContain('<html lang="en">');
    await browser.submit('google', [['user_id', sandbox.mcp.people[0]?.user_id ?? '']]);
    await browser.submit('workspace', [['workspace_id', studio]]);
    expect(browser.page).toContain('&#60;script&#62;alert(1)');
    expect(browser.page).not.toContain('<script');
    const policy = (await fetch(url)).headers.get('content-security-policy');
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(policy).not.toContain('script-src');
  });

  it('refuse a wrong password, and let the person try again', async () => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox);
    const browser = new Browser();
    await browser.open(url.href);
    await expect(
      browser.submit('sign-in', [
        ['email', mira],
        ['password', 'guess'],
      ]),
    ).rejects.toThrow('password is wrong');
    await browser.submit('sign-in', [
      ['email', mira],
      ['password', 'mira-in-the-sandbox'],
    ]);
    expect(browser.page).toContain('Choose a workspace');
  });

  it('end with access_denied when the person does not allow it', async () => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox);
    const back = await consent(sandbox, url, { decision: 'deny' });
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', state: 'some state' });
  });

  it.each([
    ['is not enabled', (): void => {}, { enabled: false }],
    ['was disabled again', (sandbox: { mcp: { disable(): void } }) => sandbox.mcp.disable(), {}],
  ] as const)('end with access_denied while MCP %s', async (_, change, options) => {
    const { sandbox } = await startMcp(options);
    change(sandbox);
    const { url } = await authorization(sandbox);
    expect((await consent(sandbox, url)).searchParams.get('error')).toBe('access_denied');
    sandbox.mcp.enable();
    expect((await consent(sandbox, url)).searchParams.has('code')).toBe(true);
  });

  it.each([
    [{ code_challenge: null }, 'invalid_request'],
    [{ code_challenge_method: null }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ])('are not shown for %o: %s', async (parameters, error) => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox, parameters);
    const back = await consent(sandbox, url);
    expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
    expect(back.searchParams.get('error')).toBe(error);
  });

  it.each([
    [{ client_id: 'unknown' }, 'has to register again'],
    [{ redirect_uri: 'http://127.0.0.1:9/elsewhere' }, 'has not registered'],
    [{ redirect_uri: 'https://attacker.example/callback' }, 'has not registered'],
    [{ redirect_uri: null }, 'has not registered'],
  ])('send the browser nowhere for %o', async (parameters, complaint) => {
    const { sandbox } = await startMcp();
    const { url } = await authorization(sandbox, parameters);
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(complaint);
  });
});

describe('the token endpoint', () => {
  it.each([
    [{ code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    [{ code: 'guess' }, 'invalid_grant'],
    [{ redirect_uri: 'http://127.0.0.1:9/elsewhere' }, 'invalid_grant'],
    [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
    [{ client_id: 'unknown' }, 'invalid_client'],
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ code_verifier: '' }, 'invalid_request'],
  ])('refuses an exchange with %o: %s', async (wrong, error) => {
    const { sandbox } = await startMcp();
    const { url, verifier, client_id } = await authorization(sandbox);
    const code = (await consent(sandbox, url)).searchParams.get('code') ?? '';
    const exchange = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier };
    const { json } = await tokenRequest(sandbox, { ...exchange, ...wrong });
    expect(json.error).toBe(error);
    expect((await tokenRequest(sandbox, exchange)).status).toBe(200);
  });

  it('takes a code once, and revokes the grant when it comes again', async () => {
    const { sandbox } = await startMcp();
    const { exchange, tokens } = await link(sandbox);
    expect((await tokenRequest(sandbox, exchange)).json.error).toBe('invalid_grant');
    await expect(McpClient.connect(sandbox, tokens.access_token)).rejects.toThrow('revoked');
  });

  it('rotates the refresh token on every exchange', async () => {
    const { sandbox } = await startMcp();
    const { tokens, client_id } = await link(sandbox);
    const second = await refresh(sandbox, client_id, tokens.refresh_token);
    expect(second.json.refresh_token).not.toBe(tokens.refresh_token);
    expect(second.json.scope).toBe(tokens.scope);
    expect((await refresh(sandbox, client_id, second.json.refresh_token)).status).toBe(200);
  });

  it.each([
    ['revokes the grant', 'invalid_grant', 'invalid_grant'],
    ['is refused', 'invalid_grant', undefined],
    ['is repeated', undefined, undefined],
  ] as const)('answers a refresh token that comes again: it %s', async (refreshReuse, again, newest) => {
    const { sandbox } = await startMcp({ refreshReuse });
    const { tokens, client_id } = await link(sandbox);
    const second = await refresh(sandbox, client_id, tokens.refresh_token);
    expect((await refresh(sandbox, client_id, tokens.refresh_token)).json.error).toBe(again);
    expect((await refresh(sandbox, client_id, second.json.refresh_token)).json.error).toBe(newest);
  });

  it('takes a refresh token for 30 days from its issue', async () => {
    const { sandbox, time } = await startMcp();
    let { tokens, client_id } = await link(sandbox);
    for (const days of [29, 30]) {
      time.now += days * dayMs;
      const answer = await refresh(sandbox, client_id, tokens.refresh_token);
      expect(answer.status).toBe(200);
      tokens = answer.json;
    }
    time.now += 30 * dayMs + 1;
    expect((await refresh(sandbox, client_id, tokens.refresh_token)).json.error).toBe('invalid_grant');
  });

  it('keeps grants, clients and what is enabled over a restart', async () => {
    const dataFile = join(newFolder(), 'data.jsonl');
    const first = await startAtNoon({ dataFile, mcp: { enabled: true } });
    const { tokens, client_id } = await link(first.sandbox);
    const second = await startAtNoon({ dataFile });
    expect((await refresh(second.sandbox, client_id, tokens.refresh_token)).status).toBe(200);
    expect(second.sandbox.data.workspaces.map(({ mcp_enabled }) => mcp_enabled)).toEqual([true, false]);
  });
});
