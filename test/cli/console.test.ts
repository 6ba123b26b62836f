import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JobPage, Now, RelayFacts } from '../../console/contract.ts';
import { startChild } from '../child.ts';
import { askConsole as ask } from '../console/ask-console.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder } from '../new-folder.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { ARN, EXPIRED, KNOWN, type StageStandIn, startStageStandIn } from './stage-stand-in.ts';

let relay: TestRelay;
let aws: StageStandIn;

beforeAll(async () => {
  relay = await startRelay({ tableOnWire: true });
  aws = await startStageStandIn(relay);
});

afterEach(() => void Object.assign(aws, { identity: KNOWN, isRunning: true }));

/** Starts `partner-relay --stage test console`. */
function start(options: string[] = [], variables: Record<string, string> = {}) {
  const words = ['cli/bin.js', '--stage', 'test', 'console', '--port', '0', ...options];
  const child = startChild(words, '.', { ...aws.variables, ...variables });
  onTestFinished(child.kill);
  const address = async () => String(await child.printed(/http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}(?=\n)/));
  return { ...child, address };
}

describe('relay console --stage', () => {
  it('shows the stage with the caller’s credentials, which stay in its process, and refuses changes', async () => {
    const { answer: made } = await relay.post('issues', issueEvent('opened'));
    const address = await start().address();
    const { answer: facts } = await ask<RelayFacts>(address, '/api/relay');
    expect(facts).toMatchObject({ name: 'test', operate: false, operator: ARN, canTry: false });
    const { answer: page } = await ask<JobPage>(address, '/api/jobs');
    expect(page.jobs.map(({ id }) => id)).toEqual(made.jobs);
    expect((await ask<Now>(address, '/api/now')).answer.stopped).toBeNull();
    expect((await ask(address, '/api/jobs', { do: 'replay', ids: made.jobs })).status).toBe(403);
    expect(JSON.stringify([facts, page])).not.toContain(relay.stack.variables.AWS_ACCESS_KEY_ID);
    const asked = aws.asked.find(({ body }) => body.includes('GetCallerIdentity'));
    const signed = /^AWS4-HMAC-SHA256 Credential=\w+\/\d{8}\/eu-central-1\/sts\/aws4_request, /;
    expect(asked?.headers.authorization).toMatch(signed);
  });

  it('says on its pages and in the terminal that the stage is stopped', async () => {
    aws.isRunning = false;
    const { address, printed } = start();
    const words = 'The stage test is stopped. To start it: npx partner-relay --stage test start';
    expect((await ask<Now>(await address(), '/api/now')).answer.stopped).toBe(words);
    await printed(words);
  });

  it('accepts changes with --operate, and opens the browser with a file that only its owner can read', async () => {
    // Stand-ins for the programs that open a browser. They note their arguments, which all users of a machine can read.
    const programs = newFolder();
    const program = `#!/bin/sh\necho "$@" > "${programs}/opened"\n`;
    for (const name of ['open', 'xdg-open']) await writeFile(join(programs, name), program, { mode: 0o755 });
    const address = await start(['--operate', '--open'], { PATH: `${programs}:${process.env.PATH}` }).address();
    const { hash, port } = new URL(address);
    const file = `.relay/open-${port}.html`;
    onTestFinished(() => rm(file));
    await expect.poll(() => readFile(join(programs, 'opened'), 'utf8').catch(() => '')).toContain(file);
    expect(await readFile(join(programs, 'opened'), 'utf8')).not.toContain(hash);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(`url=${address}"`);
    expect((await ask<RelayFacts>(address, '/api/relay')).answer).toMatchObject({ operate: true });
    const replayed = await ask(address, '/api/jobs', { do: 'replay', ids: ['gone'] });
    expect(replayed).toMatchObject({ status: 200, answer: { results: [{ id: 'gone', ok: false }] } });
  });

  it('says why AWS does not say who the caller is', async () => {
    aws.identity = { status: 403, body: EXPIRED };
    const { ended, output } = start();
    expect(await ended()).toBe(1);
    expect(output()).toContain('AWS does not say who you are: The security token is expired');
  });
});
