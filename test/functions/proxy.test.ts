import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { SQSBatchResponse } from 'aws-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeConfig, writeCustom } from '../../infra/bundle/custom-build.ts';
import { buildFunction } from '../../infra/bundle/function-build.ts';
import none from '../../lib/triggers/custom-automation.ts';
import { deliver } from '../../local/event-source.ts';
import { functionUrlEvent } from '../../local/http-front.ts';
import { COMPANY_CA, type ConnectProxy, startConnectProxy, startTlsFront, type TlsFront } from '../connect-proxy.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, githubSignature, startRelay, type TestRelay } from '../relay.ts';

const SLUGS = ['github-webhook', 'job-worker'];

/** Everything that the functions call. Each has its own address with https. */
type Called = 'DynamoDB' | 'SQS' | 'Secrets Manager' | 'the service' | 'GitHub';

let relay: TestRelay;
let github: GithubApi;
let proxy: ConnectProxy;
let fronts: Record<Called, TlsFront>;
let bundles: string;

beforeAll(async () => {
  [github, proxy] = await Promise.all([startGithubApi(Date.now), startConnectProxy()]);
  const ofGithub = await startTlsFront(github.url);
  const config = exampleConfig({}, { apiUrl: ofGithub.url });
  relay = await startRelay({ config, github: { token: 'of-the-tests' }, tableOnWire: true });
  // The functions run in their own processes, which use the machine's clock.
  relay.clock.now = Date.now();
  const { AWS_ENDPOINT_URL_DYNAMODB: dynamoDb, AWS_ENDPOINT_URL_SQS: sqs } = relay.stack.variables;
  fronts = {
    DynamoDB: await startTlsFront(dynamoDb),
    SQS: await startTlsFront(sqs),
    'Secrets Manager': await startTlsFront(sqs),
    'the service': await startTlsFront(relay.sandbox.url),
    GitHub: ofGithub,
  };
  const [key] = relay.sandbox.keys;
  relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, { baseUrl: fronts['the service'].url, ...key });
  bundles = mkdtempSync(join(tmpdir(), 'bundles-'));
  const addOwn = writeCustom({ custom: none, files: [] }, join(bundles, 'automations'));
  execFileSync('mkfifo', [sharedConfig()]);
  for (const slug of SLUGS) {
    const folder = join(bundles, slug);
    buildFunction(slug, folder, join(bundles, 'source-maps'));
    writeConfig(config, folder);
    addOwn(slug, folder);
  }
});

afterAll(async () => {
  for (const { close } of [...Object.values(fronts), proxy]) close();
  rmSync(bundles, { recursive: true });
});

/** Where the SDK looks for missing settings. No Lambda has this file, and here, reading it would never end. */
const sharedConfig = () => join(bundles, 'aws-config');

const RUN = `
  const { handler } = await import(process.argv[1]);
  const event = JSON.parse(process.argv[2]);
  const answer = await handler(event, { getRemainingTimeInMillis: () => 60_000, awsRequestId: '', functionName: '' });
  process.stdout.write('\\n' + JSON.stringify(answer ?? null));
  process.exit();`;

/** Runs a bundle as Lambda does: in its own process, with the variables of the stack. */
async function invoke<T>(slug: string, event: object, exceptions: readonly Called[]): Promise<T> {
  const { variables } = relay.stack;
  const queue = (url: string) => fronts.SQS.url + new URL(url).pathname;
  const file = join(bundles, slug, 'index.mjs');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', RUN, file, JSON.stringify(event)], {
    env: {
      ...variables,
      AWS_CONFIG_FILE: sharedConfig(),
      INTERACTIVE_QUEUE_URL: queue(variables.INTERACTIVE_QUEUE_URL),
      BACKGROUND_QUEUE_URL: queue(variables.BACKGROUND_QUEUE_URL),
      AWS_ENDPOINT_URL_DYNAMODB: fronts.DynamoDB.url,
      AWS_ENDPOINT_URL_SQS: fronts.SQS.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: fronts['Secrets Manager'].url,
      NODE_EXTRA_CA_CERTS: COMPANY_CA,
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxy.url,
      NO_PROXY: exceptions.map((called) => fronts[called].host).join(),
    },
  });
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const answer = printed.split('\n').at(-1);
  if (!answer) throw new Error(`${slug} did not answer: ${printed}${errors}`);
  return JSON.parse(answer);
}

/** Opens an issue with that number, and runs the functions until they have nothing to do. */
async function openIssue(id: number, exceptions: readonly Called[]): Promise<void> {
  const body = JSON.stringify(issueEvent('opened', { id, from: Date.now() }));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': `delivery-${id}`,
    'x-hub-signature-256': githubSignature(body),
  };
  const event = functionUrlEvent({ method: 'POST', headers, url: '/github' }, '/github', Buffer.from(body));
  expect(await invoke('github-webhook', event, exceptions)).toMatchObject({ statusCode: 202 });
  for (const queue of relay.stack.queues) {
    for (let message = queue.receive(); message; message = queue.receive()) {
      await deliver(queue, message, (event) => invoke<SQSBatchResponse>('job-worker', event, exceptions));
    }
  }
}

it.each<[string, Called[]]>([
  ['nothing is excepted', []],
  ['AWS services have an endpoint', ['DynamoDB', 'SQS', 'Secrets Manager']],
  ['the service is near', ['the service']],
])('a function with a proxy calls everything through it, except for the exceptions: %s', async (_, exceptions) => {
  proxy.tunnels.splice(0);
  for (const front of Object.values(fronts)) front.taken = 0;
  const before = await relay.jobs('succeeded');
  await openIssue(before.length + 1, exceptions);
  expect(await relay.jobs('succeeded')).toHaveLength(before.length + 1);

  for (const [called, { host, taken }] of Object.entries(fronts)) {
    const tunnelled = proxy.tunnels.filter((tunnel) => tunnel === host).length;
    const isDirect = exceptions.some((exception) => exception === called);
    expect(taken, called).toBeGreaterThan(0);
    expect(tunnelled, called).toBe(isDirect ? 0 : taken);
  }
});
