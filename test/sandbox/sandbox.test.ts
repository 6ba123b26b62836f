import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defaultPeople } from '../../sandbox/mcp/people.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { link, McpClient } from './mcp/mcp-client.ts';
import { call, noon, sign, startAtNoon } from './signed-request.ts';

function sendHalf(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('POST /api/v1/partner/validate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{');
  return socket.on('error', () => {}).resume();
}

describe('the server', () => {
  it('answers an unknown operation with 404', async () => {
    const { sandbox } = await startAtNoon();
    expect((await call(sandbox, '/projects/archive', {})).status).toBe(404);
    expect(sandbox.audit).toMatchObject([{ endpoint: '/projects/archive', status: 404, reason: 'Unknown operation' }]);
    expect((await fetch(`${sandbox.url}/elsewhere`)).status).toBe(404);
  });

  it('answers GET with 405', async () => {
    const { sandbox } = await startAtNoon();
    const response = await fetch(`${sandbox.url}/api/v1/partner/validate`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('dates its answers by its own clock', async () => {
    const { sandbox, time } = await startAtNoon();
    time.now = noon + 42_000;
    const { headers } = await call(sandbox, '/validate', {});
    expect(headers.get('date')).toBe('Tue, 03 Feb 2026 12:00:42 GMT');
    expect((await fetch(`${sandbox.url}/sandbox/requests`)).headers.get('date')).toBe('Tue, 03 Feb 2026 12:00:42 GMT');
  });

  it('lives under a base path, which is signed', async () => {
    const { sandbox } = await startAtNoon({ basePath: '/pm' });
    expect(new URL(sandbox.url).pathname).toBe('/pm');
    expect((await call(sandbox, '/validate', {})).status).toBe(200);
    const { headers } = sign(sandbox.url.replace('/pm', ''), '/validate', {});
    expect((await call(sandbox, '/validate', {}, { headers })).json.message).toBe('Invalid signature');
    expect((await call({ ...sandbox, url: sandbox.url.replace('/pm', '') }, '/validate', {})).status).toBe(404);
  });

  it('shows audit trail, data and the number of requests', async () => {
    const { sandbox } = await startAtNoon();
    await call(sandbox, '/validate', {});
    const read = async (path: string) => (await fetch(`${sandbox.url}/sandbox/${path}`)).json();
    const entry = {
      time: '2026-02-03T12:00:00.000Z',
      ip: '127.0.0.1',
      endpoint: '/validate',
      status: 200,
      reason: null,
    };
    expect(await read('audit')).toEqual([entry]);
    expect(await read('data')).toEqual(sandbox.data);
    expect(await read('requests')).toEqual({ count: 1 });
    expect(sandbox.requests).toBe(1);
  });

  it('closes with idle connections, sleeping requests and one that is half sent', async () => {
    const sandbox = await startSandbox({ clock: () => noon });
    sandbox.setFault({ kind: 'latency', ms: 3_600_000, skip: 1 });
    await call(sandbox, '/validate', {});
    const sleeping = Array.from({ length: 20 }, () => call(sandbox, '/validate', {}));
    const settled = Promise.allSettled(sleeping);
    while (sandbox.requests < 21) await new Promise(setImmediate);
    const halfSent = sendHalf(sandbox.url);
    await once(halfSent, 'ready');
    await sandbox.close();
    expect((await settled).map(({ status }) => status)).toEqual(sleeping.map(() => 'rejected'));
  });

  it('goes on after a client that leaves in the middle of its request', async () => {
    const { sandbox } = await startAtNoon();
    const socket = sendHalf(sandbox.url);
    await once(socket, 'ready');
    socket.destroy();
    await once(socket, 'close');
    expect((await call(sandbox, '/validate', {})).status).toBe(200);
  });

  it('carries out the work of a client that does not wait', async () => {
    const { sandbox } = await startAtNoon();
    sandbox.setFault({ kind: 'latency', ms: 20, times: 1 });
    const project_id = sandbox.data.projects[0]?.project_id;
    const { url, ...init } = sign(sandbox.url, '/defects/create', { project_id, title: 'Late' });
    const impatient = new AbortController();
    const sent = fetch(url, { method: 'POST', ...init, signal: impatient.signal });
    while (sandbox.requests < 1) await new Promise(setImmediate);
    impatient.abort();
    await expect(sent).rejects.toThrow('aborted');
    while (sandbox.audit.length < 1) await new Promise(setImmediate);
    expect(sandbox.data.defects.at(-1)?.title).toBe('Late');
  });
});

describe.concurrent('npm run sandbox', () => {
  const start = join(import.meta.dirname, '../../sandbox/start.ts');

  it.for(['SIGINT', 'SIGTERM'] as const)('prints what one needs and ends with %s', async (signal, test) => {
    const child = spawn(process.execPath, [start, '--port', '0', '--window', 'calendar', '--limit-per-minute', '1']);
    test.onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout, 'data');
    expect(String(greeting)).toMatch(/pk_sandbox_.*sk_sandbox_.*curl.*curl/s);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting))?.[0] ?? '';
    const body = JSON.stringify({ kind: 'latency', ms: 3_600_000 });
    const headers = { authorization: /Bearer [\w-]+/.exec(String(greeting))?.[0] ?? '' };
    expect((await fetch(`${url}/sandbox/faults`, { method: 'POST', headers, body })).status).toBe(201);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end('GET /api/v1/partner/validate HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while ((await (await fetch(`${url}/sandbox/requests`)).text()) === '{"count":0}');
    // A timer left behind by the sleeping request would keep the process.
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.for([
    [['--key-state', 'inactive'], 401],
    [['--key-state', 'expired'], 401],
    [['--scopes', 'projects.read, defects.read'], 403],
    [['--scopes', 'users.read'], 200],
  ] as const)('has the key that its options say: %o', async ([options, expected], test) => {
    const child = spawn(process.execPath, [start, '--port', '0', ...options]);
    test.onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting))?.[0] ?? '';
    const { headers, body } = sign(url, '/users/list', {}, { at: Date.now() });
    const { status } = await fetch(`${url}/api/v1/partner/users/list`, { method: 'POST', headers, body });
    expect(status).toBe(expected);
  });

  it('explains its options for --help, and ends', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [start, '--help']);
    expect(stdout).toMatch(/^Usage: npm run sandbox/);
    expect(stderr).toBe('');
  });

  it('serves MCP with tools of other names', async (test) => {
    const renamed = ['--rename-tool', 'who_am_i=wer.bin.ich', '--rename-argument', 'log_time.hours=stunden'];
    const child = spawn(process.execPath, [
      start,
      '--port',
      '0',
      '--mcp-scopes',
      'mcp:use,mcp:timelogs.write',
      ...renamed,
    ]);
    test.onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting))?.[0] ?? '';
    const { tokens } = await link({ url, mcp: { url: `${url}/mcp/partner`, people: defaultPeople } });
    expect(tokens.scope).toBe('mcp:use mcp:timelogs.write');
    const client = await McpClient.connect({ url }, tokens.access_token);
    expect((await client.call('wer.bin.ich')).json.result.isError).toBe(false);
    expect((await client.call('log_time')).json.result.content[0]?.text).toBe('task is required; stunden is required');
  });

  it.each([
    [['--window', 'weekly'], '--window must be one of calendar, first-request, sliding'],
    [['--key-state', 'lost'], '--key-state must be one of active, inactive, expired, revoked'],
    [['--mcp-answers', 'slowly'], '--mcp-answers must be one of json, stream'],
    [['--mcp-scopes', 'mcp:all'], 'there is no scope mcp:all to allow'],
    [['--refresh-reuse', 'x'], '--refresh-reuse must be one of revokes the grant, is refused, is repeated'],
    [['--rename-tool', 'log_time'], '--rename-tool must be OLD=NEW'],
    [['--rename-argument', 'log_time=x'], '--rename-argument must be TOOL.OLD=NEW'],
    [['--rename-tool', 'no_tool=x'], 'there is no tool no_tool to rename'],
    [['--scopes', 'defects'], "--scopes: no scope 'defects'; there are *, checklists.write, defects.read"],
  ])('refuses an option that makes no sense: %o', async (options, expected) => {
    const child = spawn(process.execPath, [start, ...options]);
    const [complaint] = await once(child.stderr, 'data');
    expect(String(complaint)).toContain(expected);
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});
