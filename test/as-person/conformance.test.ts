import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const suite = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const client = fileURLToPath(new URL('conformance-client.ts', import.meta.url));

/** Scenarios that cannot apply, with the reason. */
const inapplicable: Readonly<Record<string, string>> = {
  'elicitation-sep1034-client-defaults': 'the relay declares no elicitation: nobody sits at a job to be asked',
  'auth/basic-cimd':
    'the docs/partner-api.md has dynamic registration only, and the relay has no public page for metadata',
  'auth/token-endpoint-auth-basic': 'the docs/partner-api.md has public clients only, without a secret',
  'auth/token-endpoint-auth-post': 'the same',
  'auth/pre-registration': 'the same; clients register themselves',
  'auth/2025-03-26-oauth-metadata-backcompat': 'the docs/partner-api.md has metadata of the protected resource',
  'auth/2025-03-26-oauth-endpoint-fallback': 'without metadata nothing says that PKCE with S256 is there',
  'auth/client-credentials-jwt': 'the relay acts for people only',
  'auth/client-credentials-basic': 'the same',
  'auth/cross-app-access-complete-flow': 'the docs/partner-api.md has no identity provider of an enterprise',
};

/** Returns the suite's output. Its exit code also counts inapplicable scenarios. */
function run(...args: string[]): Promise<string> {
  const command = `"${process.execPath}" "${client}"`;
  const cwd = mkdtempSync(join(tmpdir(), 'conformance-'));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [suite, ...args, ...(args[0] === 'client' ? ['--command', command] : [])],
      { cwd },
      (_, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

/** The scenarios of the suite `auth`, and those that run one by one. */
const ofSuite = [
  ...['auth/metadata-default', 'auth/metadata-var1', 'auth/metadata-var2', 'auth/metadata-var3'],
  ...['auth/scope-from-www-authenticate', 'auth/scope-from-scopes-supported', 'auth/scope-omitted-when-undefined'],
  ...['auth/scope-step-up', 'auth/scope-retry-limit', 'auth/token-endpoint-auth-none'],
];
const single = [
  ...['initialize', 'tools_call', 'sse-retry', 'auth/resource-mismatch', 'auth/offline-access-scope'],
  'auth/offline-access-not-supported',
];

describe('the official conformance suite', () => {
  it('passes the client in every applicable scenario of OAuth', async () => {
    const printed = await run('client', '--suite', 'auth');
    const passed = [...printed.matchAll(/^✓ (\S+): /gm)].map(([, name]) => name);
    expect(passed).toEqual(expect.arrayContaining(ofSuite));
  });

  it.each(single)('passes the client in %s', async (scenario) => {
    expect(await run('client', '--scenario', scenario)).toContain('OVERALL: PASSED');
  });

  it('has no other scenarios for clients', async () => {
    const [, clients = ''] = (await run('list')).split('Client scenarios');
    const names = [...clients.matchAll(/^ +- (\S+)/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual([...ofSuite, ...single, ...Object.keys(inapplicable)].sort());
  });
});
