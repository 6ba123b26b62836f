import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { call, startAtNoon } from './signed-request.ts';

describe('the server', () => {
  it('shows audit trail and data', async () => {
    const { sandbox } = await startAtNoon();
    await call(sandbox, '/validate', {});
    const read = async (path: string) => (await fetch(`${sandbox.url}/sandbox/${path}`)).json();
    const time = '2026-02-03T12:00:00.000Z';
    expect(await read('audit')).toEqual([{ time, ip: '127.0.0.1', endpoint: '/validate', status: 200, reason: null }]);
    expect(await read('data')).toEqual(sandbox.data);
    expect(sandbox.requests).toBe(1);
  });
});

describe.concurrent('npm run sandbox', () => {
  const start = join(import.meta.dirname, '../../sandbox/start.ts');

  it.for(['SIGINT', 'SIGTERM'] as const)('prints its address and keys, and ends with %s', async (signal, test) => {
    const child = spawn(process.execPath, [start, '--port', '0', '--limit-per-minute', '1']);
    test.onTestFinished(() => void child.kill('SIGKILL'));
    const [greeting] = await once(child.stdout, 'data');
    expect(String(greeting)).toMatch(/pk_sandbox_.*sk_sandbox_.*curl.*curl/s);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting))?.[0] ?? '';
    const body = JSON.stringify({ kind: 'latency', ms: 3_600_000, times: 1 });
    const headers = { authorization: /Bearer [\w-]+/.exec(String(greeting))?.[0] ?? '' };
    const faults = `${url}/sandbox/faults`;
    expect((await fetch(faults, { method: 'POST', headers, body })).status).toBe(201);
    const port = Number(new URL(url).port);
    connect(port, '127.0.0.1').end('GET /api/v1/partner/validate HTTP/1.1\r\nHost: localhost\r\n\r\n');
    connect(port, '127.0.0.1')
      .on('error', () => {})
      .write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n');
    while ((await (await fetch(faults)).text()) !== '[]');
    // A leftover timer of the sleeping request would keep the process running.
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
  ])('refuses an unusable option: %o', async (options, expected) => {
    const child = spawn(process.execPath, [start, ...options]);
    const [complaint] = await once(child.stderr, 'data');
    expect(String(complaint)).toContain(expected);
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});
