import { execFile } from 'node:child_process';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../local/listen.ts';
import { mira, startMcp } from './mcp-client.ts';

/** Scenarios of the official suite that the sandbox cannot pass, and why. */
const notApplicable: Readonly<Record<string, readonly string[]>> = {
  'Each answer is one JSON object': ['tools-call-with-progress'],
  'The contract has tools alone: no logging, completions, resources or prompts': [
    'logging-set-level',
    'tools-call-with-logging',
    'completion-complete',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'resources-subscribe',
    'resources-unsubscribe',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
  'No tool of the sandbox asks the client for anything': [
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ],
  'The tools of the sandbox answer with text, and have a fixed schema': [
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'json-schema-2020-12',
  ],
};

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

/** The suite calls tools by names of its own; these are tools of the sandbox that do what it expects of them. */
const renameTools = {
  list_projects: 'test_simple_text',
  // It is called without its required arguments.
  log_time: 'test_error_handling',
};

it('passes the server scenarios of the official conformance suite that apply', async () => {
  const { sandbox } = await startMcp({ renameTools, rateLimit: { perMinute: 1000 } });
  const url = await proxyWithBearer(sandbox.mcp.url, sandbox.mcp.grant(mira).access_token);
  const { passed, failed } = await runSuite(url);
  expect(passed).toEqual(applicable);
  expect(failed).toEqual(Object.values(notApplicable).flat().toSorted());
});

/** The suite cannot send a header of ours. */
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

async function runSuite(url: string): Promise<{ passed: string[]; failed: string[] }> {
  const suite = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const { promise, resolve } = Promise.withResolvers<string>();
  // It exits with 1 for the scenarios that do not apply.
  execFile(process.execPath, [suite, 'server', '--suite', 'all', '--url', url], (_, stdout) => resolve(stdout));
  const summary = (await promise).split('=== SUMMARY ===')[1] ?? '';
  const named = (mark: string) =>
    [...summary.matchAll(new RegExp(`^${mark} ([\\w-]+):`, 'gm'))].map(([, name]) => name ?? '');
  return { passed: named('✓').toSorted(), failed: named('✗').toSorted() };
}
