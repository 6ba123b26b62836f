import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { listenForCallback } from '../../cli/loopback.ts';
import { login } from '../../cli/mcp.ts';
import type { Holder } from '../../lib/as-person/grants/grant.ts';
import { REDIRECT_URI, type SandboxWorld, startSandboxWorld } from '../as-person/world.ts';
import { consent } from '../sandbox/mcp/consent.ts';
import { byClockOf, runRelay, targetOf } from './run-command.ts';

const operator: Holder = { in: 'operator', id: 'pat' };

describe('mcp login', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await startSandboxWorld();
  });

  /** Logs in, and opens the told address in a browser. */
  async function loggedIn(decision: 'allow' | 'deny', options: { scope?: string[] } = {}) {
    const endpoint = await world.worker();
    const browse = async (line: string) => {
      const [url = ''] = /http\S+/.exec(line) ?? [];
      await fetch(await consent(world.sandbox, url, { decision }));
    };
    const ended = login(endpoint, operator, { connection: 'main', port: 0, ...options }, (line) => void browse(line));
    return { endpoint, ended };
  }

  it('links the account of the operator through their browser', async () => {
    const { endpoint, ended } = await loggedIn('allow');
    expect((await ended).scopes).toContain('mcp:use');
    expect((await endpoint.tools.list(operator)).tools.length).toBeGreaterThan(0);
    expect(await endpoint.grants.forget('main', operator)).toBe(true);
    await expect(endpoint.tools.list(operator)).rejects.toThrow('no account is linked');
  });

  it('asks only for the named scopes', async () => {
    const scope = ['mcp:use', 'mcp:projects.read'];
    const { ended } = await loggedIn('allow', { scope });
    expect((await ended).scopes).toEqual(scope);
  });

  it('says who has to agree if access is denied', async () => {
    const { endpoint, ended } = await loggedIn('deny');
    await expect(ended).rejects.toThrow('an administrator has to enable MCP for the workspace, and you have to allow');
    expect(await endpoint.grants.get('main', operator)).toBeUndefined();
  });
});

it.each([
  ['doctor', [], { faults: [], tools: expect.arrayContaining([expect.objectContaining({ name: 'list_projects' })]) }],
  ['call', ['list_projects'], { isError: false, texts: [expect.stringContaining('Web Shop')] }],
])('mcp %s prints valid JSON with --json', async (name, words, printed) => {
  const world = await startSandboxWorld();
  const { link, grants } = await world.worker();
  const { url, pending } = await link.begin(REDIRECT_URI, {});
  const { searchParams } = await consent(world.sandbox, url);
  await grants.link(operator, await link.finish(pending, searchParams));
  onTestFinished(() => {
    process.exitCode = undefined;
  });
  const given = { open: async () => targetOf({ url: '', stores: world.stores }), stage: () => 'prod' };
  const run = () => runRelay(given, 'mcp', name, ...words, '--as', operator.id, '--json');
  expect(JSON.parse(await byClockOf(world, run))).toMatchObject(printed);
});

describe('the server that waits for the browser', () => {
  async function listening() {
    const loopback = await listenForCallback(0, '/callback/main');
    onTestFinished(() => loopback.close());
    return loopback;
  }

  it('accepts the callback with its own state, and no other request', async () => {
    const loopback = await listening();
    const callback = loopback.callback('right', 10_000);
    const { origin } = new URL(loopback.redirectUri);
    for (const wrong of ['?code=stolen', '?state=wrong&code=stolen', '/else?state=right']) {
      expect((await fetch(loopback.redirectUri + wrong)).status).toBe(404);
    }
    // An invalid URL, the path of another connection, and a path after another host.
    for (const wrong of ['//', '/callback/other?state=right', '//127.0.0.1/callback/main?state=right']) {
      expect((await fetch(origin + wrong)).status).toBe(404);
    }
    expect((await fetch(`${loopback.redirectUri}?state=right`, { method: 'POST' })).status).toBe(404);
    const page = await fetch(`${loopback.redirectUri}?state=right&code=mine`);
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect((await callback).get('code')).toBe('mine');
  });

  it('says that its port is taken', async () => {
    const port = Number(new URL((await listening()).redirectUri).port);
    const why = `port ${port} is already in use; choose another with --port`;
    await expect(listenForCallback(port, '/callback/main')).rejects.toThrow(why);
  });
});
