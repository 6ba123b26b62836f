import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
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

  it('dates its answers by its own clock', async () => {
    const { sandbox, time } = await startAtNoon();
    time.now = noon + 42_000;
    const { headers } = await call(sandbox, '/validate', {});
    expect(headers.get('date')).toBe('Tue, 03 Feb 2026 12:00:42 GMT');
    expect((await fetch(`${sandbox.url}/sandbox/audit`)).headers.get('date')).toBe('Tue, 03 Feb 2026 12:00:42 GMT');
  });

  it('lives under a base path, which is signed', async () => {
    const { sandbox } = await startAtNoon({ basePath: '/pm' });
    expect(new URL(sandbox.url).pathname).toBe('/pm');
    expect((await call(sandbox, '/validate', {})).status).toBe(200);
    const { headers } = sign(sandbox.url.replace('/pm', ''), '/validate', {});
    expect((await call(sandbox, '/validate', {}, { headers })).json.message).toBe('Invalid signature');
    expect((await call({ ...sandbox, url: sandbox.url.replace('/pm', '') }, '/validate', {})).status).toBe(404);
  });

  it('shows audit trail and data', async () => {
    const { sandbox } = await startAtNoon();
    await call(sandbox, '/validate', {});
    const read = async (path: string) => (await fetch(`${sandbox.url}/sandbox/${path}`)).json();
    const time = '2026-02-03T12:00:00.000Z';
    expect(await read('audit')).toEqual([{ time, ip: '127.0.0.1', endpoint: '/validate', status: 200, reason: null }]);
    expect(await read('data')).toEqual(sandbox.data);
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
    const child = spawn(process.execPath, [start, '--port', '0', '--limit-per-minute', '1']);
    test.onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout, 'data');
    expect(String(greeting)).toMatch(/pk_sandbox_.*sk_sandbox_.*curl.*curl/s);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting))?.[0] ?? '';
    const body = JSON.stringify({ kind: 'latency', ms: 3_600_000, times: 1 });
    const headers = { authorization: /Bearer [\w-]+/.exec(String(greeting))?.[0] ?? '' };
    const faults = `${url}/sandbox/faults`;
    expect((await fetch(faults, { method: 'POST', headers, body })).status).toBe(201);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end('GET /api/v1/partner/validate HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while ((await (await fetch(faults)).text()) !== '[]');
    // A timer left behind by the sleeping request would keep the process.
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('explains its options for --help, and ends', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [start, '--help']);
    expect(stdout).toMatch(/^Usage: npm run sandbox/);
    expect(stderr).toBe('');
  });

  it.each([
    [['--port', 'any'], '--port must be a whole number'],
    [['--window', 'weekly'], "Unknown option '--window'"],
  ])('refuses an option that makes no sense: %o', async (options, expected) => {
    const child = spawn(process.execPath, [start, ...options]);
    const [complaint] = await once(child.stderr, 'data');
    expect(String(complaint)).toContain(expected);
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});
