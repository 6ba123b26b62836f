import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endingCalls, isSilence } from '../../lib/aws-limits.ts';
import { openStores } from '../../lib/runtime.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { type LossyProxy, startLossyProxy } from '../lossy-proxy.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { command, submit } from '../slack-requests.ts';

let relay: TestRelay;
let aws: LossyProxy;
let isSilentAt: string | undefined;
const silent = createServer(() => {});
beforeAll(async () => {
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const nowhere = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  relay = await startRelay({
    environment: { STAGE: 'prod' },
    runtime: {
      fetch: (url, init) => fetch(isSilentAt !== undefined && String(url).endsWith(isSilentAt) ? nowhere : url, init),
    },
    async tableThrough(endpoint) {
      aws = await startLossyProxy(endpoint);
      return aws.url;
    },
  });
});
afterEach(() => {
  aws.silence = undefined;
  isSilentAt = undefined;
});
afterAll(async () => {
  await aws.close();
  silent.close();
});

const UNKNOWN = 'Partner Relay got no answer in time, so your request may or may not be saved.';

describe.each(['no answer', 'stalled answers', 'late answers'] as const)('a table that gives %s', (silence) => {
  it('notifies the person who typed a command', async () => {
    aws.silence = silence;
    const { status, text } = await command(relay, 'log 30m "Login with passkeys"');
    expect(status).toBe(200);
    expect(text).toContain(UNKNOWN);
    expect(text).toContain('/pm status');
  });
});

it('a person gets an answer while Slack waits, even if AWS is late and Slack does not open the form', async () => {
  await command(relay, 'help');
  aws.silence = 'late answers';
  isSilentAt = 'views.open';
  const givesUp = setTimeout(3_000, 'Slack gave up', { ref: false });
  expect(await Promise.race([command(relay, 'defect'), givesUp])).toMatchObject({ status: 200 });
});

it('a submitted form stays open', async () => {
  await command(relay, 'defect');
  aws.silence = 'no answer';
  const { title } = await submit(relay, relay.lastView(), { title: 'Login fails' });
  expect(title).toContain(UNKNOWN);
});

it.each(['no answer', 'stalled answers'] as const)('a delivery fails, and is requested again: %s', async (silence) => {
  aws.silence = silence;
  const { status } = await relay.post('issues', issueEvent('opened', { id: 1 }));
  expect(status).toBe(500);
});

it.each([
  ['a server', (url: string) => ({ AWS_ENDPOINT_URL_DYNAMODB: url })],
  ['a proxy', (url: string) => ({ AWS_ENDPOINT_URL_DYNAMODB: 'https://aws.invalid', HTTPS_PROXY: url })],
])('%s that accepts connections but never answers ends a call', async (_, environment) => {
  const { port } = silent.address() as AddressInfo;
  const variables = { ...relay.runtime.environment, ...environment(`http://127.0.0.1:${port}`) };
  const { table } = openStores({ environment: variables, clock: Date.now }, { tries: 1, tryMs: 100 });
  await expect(table.get(keys.time())).rejects.toSatisfy(isSilence);
});

it('a secret that was silent until the end of one invocation counts as silent in the next one, too', async () => {
  const { port } = silent.address() as AddressInfo;
  const environment = { ...relay.runtime.environment, AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}` };
  const { secrets } = openStores({ environment, clock: () => 0 });
  const invoke = endingCalls(() => secrets.createdAt('intake').catch(isSilence), 50);
  const context = { getRemainingTimeInMillis: () => 1_000 };
  expect([await invoke({}, context), await invoke({}, context)]).toEqual([true, true]);
});
