import { execFile } from 'node:child_process';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../local/listen.ts';
import { mira, startMcp } from './mcp-client.ts';

/**
 * The applicable scenarios. The others need resources, prompts, completions or logging, which the contract does not
 * have, or tools that ask the client, report progress, have special schemas, or answer with something other than text.
 */
const applicable = [
  'dns-rebinding-protection',
  'ping',
  'server-initialize',
  'server-sse-multiple-streams',
  'server-sse-polling',
  'tools-call-error',
  'tools-call-simple-text',
  'tools-list',
];

/** The suite's names for tools. These tools of the sandbox do what it expects. */
const renameTools = {
  list_projects: 'test_simple_text',
  // The suite calls it without its required arguments.
  log_time: 'test_error_handling',
};

it('passes the server scenarios of the official conformance suite that apply', async () => {
  const { sandbox } = await startMcp({ renameTools, rateLimit: { perMinute: 1000 } });
  const url = await proxyWithBearer(sandbox.mcp.url, sandbox.mcp.grant(mira).access_token);
  expect(await passedBy(url)).toEqual(applicable);
});

/** A proxy that adds the token, because the suite cannot send it. */
async function proxyWithBearer(target: string, token: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const forwarded = request(target, { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded.once('error', () => outgoing.destroy()));
  });
  const { url, close } = await listen(proxy);
  onTestFinished(close);
  return `${url}/`;
}

/** The scenarios of the suite that an endpoint passes. */
async function passedBy(url: string): Promise<string[]> {
  const suite = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const { promise, resolve } = Promise.withResolvers<string>();
  // The suite exits with 1 because of the inapplicable scenarios.
  execFile(process.execPath, [suite, 'server', '--suite', 'all', '--url', url], (_, stdout) => resolve(stdout));
  const summary = (await promise).split('=== SUMMARY ===')[1] ?? '';
  return [...summary.matchAll(/^✓ ([\w-]+):/gm)].map(([, name]) => name ?? '').toSorted();
}
