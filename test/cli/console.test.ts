import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JobPage, Now, RelayFacts } from '../../console/contract.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { ARN, KNOWN, type StageStandIn, startStageStandIn } from './stage-stand-in.ts';

let relay: TestRelay;
/** A folder with the programs that open a browser, which note what they are called with. */
let programs: string;
let aws: StageStandIn;
const stops: (() => void)[] = [];

beforeAll(async () => {
  relay = await startRelay({ tableOnWire: true });
  programs = await mkdtemp(join(tmpdir(), 'relay-open-'));
  for (const name of ['open', 'xdg-open']) {
    await writeFile(join(programs, name), `#!/bin/sh\necho "$@" > "${programs}/opened"\n`, { mode: 0o755 });
  }
  aws = await startStageStandIn(relay);
});

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  Object.assign(aws, { identity: KNOWN, isRunning: true });
});

afterAll(async () => {
  await Promise.all([aws.close(), relay.close(), rm(programs, { recursive: true })]);
});

/** Starts `relay --stage test console`. @returns what it printed first, and its errors and exit if it ended */
async function start(...options: string[]) {
  const child = spawn(process.execPath, ['cli/relay.ts', '--stage', 'test', 'console', '--port', '0', ...options], {
    env: { ...aws.variables, PATH: `${programs}:${process.env.PATH}` },
  });
  stops.push(() => child.kill());
  const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const errors = text(child.stderr);
  const { value } = await printed;
  return { address: String(value ?? ''), errors };
}

/** Asks it as its page does. */
async function ask<T>(address: string, path: string, body?: object): Promise<{ status: number; answer: T }> {
  const { origin, hash } = new URL(address);
  const response = await fetch(origin + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      origin,
      authorization: `Bearer ${hash.replace('#token=', '')}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: (await response.json()) as T };
}

describe('relay console --stage', () => {
  it('shows the stage with the caller’s credentials, which stay in its process, and refuses changes', async () => {
    const { answer: made } = await relay.post('issues', issueEvent('opened'));
    const { address } = await start();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
    const { answer: facts } = await ask<RelayFacts>(address, '/api/relay');
    expect(facts).toMatchObject({ name: 'test', operate: false, operator: ARN, canTry: false });
    const { answer: page } = await ask<JobPage>(address, '/api/jobs');
    expect(page.jobs.map(({ id }) => id)).toEqual(made.jobs);
    expect((await ask<Now>(address, '/api/now')).answer.stopped).toBeNull();
    expect((await ask(address, '/api/jobs', { do: 'replay', ids: made.jobs })).status).toBe(403);
    expect(JSON.stringify([facts, page])).not.toContain(relay.stack.variables.AWS_ACCESS_KEY_ID);
    const asked = aws.requests.find(({ body }) => body.includes('GetCallerIdentity'));
    expect(asked?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=\w+\/\d{8}\/eu-central-1\/sts\/aws4_request, /);
  });

  it('says that the stage is stopped, on its pages and in the terminal', async () => {
    aws.isRunning = false;
    const { address, errors } = await start();
    const words = 'The stage test is stopped: relay --stage test start starts it.';
    expect((await ask<Now>(address, '/api/now')).answer.stopped).toBe(words);
    for (const stop of stops.splice(0)) stop();
    expect(await errors).toContain(words);
  });

  it('opens the browser with a file that only its owner can read, because the arguments of a process are public', async () => {
    const { address } = await start('--open', '--operate');
    const { hash, port } = new URL(address);
    const file = `.relay/open-${port}.html`;
    onTestFinished(() => rm(file));
    await expect.poll(() => readFile(join(programs, 'opened'), 'utf8').catch(() => '')).toContain(file);
    expect(await readFile(join(programs, 'opened'), 'utf8')).not.toContain(hash);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(`url=${address}"`);
  });

  it('takes changes with --operate', async () => {
    const { address } = await start('--operate');
    expect((await ask<RelayFacts>(address, '/api/relay')).answer).toMatchObject({ operate: true });
    expect(await ask(address, '/api/jobs', { do: 'replay', ids: ['gone'] })).toMatchObject({
      status: 200,
      answer: { results: [{ id: 'gone', ok: false }] },
    });
  });

  it('says why AWS does not say who the caller is', async () => {
    const body =
      '<ErrorResponse><Error><Code>ExpiredToken</Code><Message>The security token is expired</Message></Error></ErrorResponse>';
    aws.identity = { status: 403, body };
    const { address, errors } = await start();
    expect(address).toBe('');
    expect(await errors).toContain('AWS does not say who you are: The security token is expired');
  });
});
