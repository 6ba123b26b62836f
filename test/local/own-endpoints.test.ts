import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controlRoutes } from '../../local/control-routes.ts';
import { startHttpFront } from '../../local/http-front.ts';
import type { Listening } from '../../local/listen.ts';
import { createLocalSchedules } from '../../local/schedules.ts';
import { type SlackStandIn, startSlackStandIn } from '../../local/slack/stand-in.ts';
import { type LocalStack, startLocalStack } from '../../local/stack.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { rawRequest } from './raw-request.ts';

let stack: LocalStack;
let front: Listening;
let slack: SlackStandIn;
let sandbox: Sandbox;
beforeAll(async () => {
  stack = await startLocalStack();
  const { AWS_ACCESS_KEY_ID: controlKey } = stack.variables;
  slack = await startSlackStandIn({ clock: Date.now, botToken: 'xoxb-1', controlKey });
  sandbox = await startSandbox({ controlKey });
  const schedules = createLocalSchedules(() => [], { clock: Date.now, failed: () => {} });
  front = await startHttpFront(0, controlRoutes(schedules, controlKey));
});
afterAll(async () => {
  await Promise.all([front.close(), stack.close(), slack.close(), sandbox.close()]);
});

const signed = (key: string) =>
  `AWS4-HMAC-SHA256 Credential=${key}/20261120/local/x/aws4_request, SignedHeaders=host, Signature=0`;
const aws = (target: string, body: object) => (key: string) => ({
  method: 'POST',
  headers: {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': target,
    'x-amz-date': '20261120T000000Z',
    authorization: signed(key),
  },
  body: JSON.stringify(body),
});
const bearer =
  (method: string, body = '') =>
  (key: string) => ({ method, headers: { authorization: `Bearer ${key}` }, body });
const to = { QueueUrl: '/background.fifo', MessageGroupId: 'g', MessageDeduplicationId: 'd' };
const message = { ...to, MessageBody: '{}' };
/** The state that requests may change. */
const state = () => [stack.queues.map(({ size }) => size), sandbox.faults.list()];

describe.each([
  ['the table', () => stack.variables.AWS_ENDPOINT_URL_DYNAMODB, aws('DynamoDB_20120810.ListTables', {})],
  ['the queues', () => stack.variables.AWS_ENDPOINT_URL_SQS, aws('AmazonSQS.SendMessage', message)],
  ['the control of the relay', () => `${front.url}/running`, bearer('GET')],
  ["the control of Slack's stand-in", () => `${slack.url}/messages`, bearer('GET')],
  ['the control of the sandbox', () => `${sandbox.url}/sandbox/faults`, bearer('POST', '{"kind":"maintenance"}')],
])('%s', (_, address, make) => {
  it('an endpoint answers requests with the key of this start', async () => {
    expect((await rawRequest(address(), make(stack.variables.AWS_ACCESS_KEY_ID))).status).toBeOneOf([200, 201]);
  });

  it.each([
    ['of a web page', { origin: 'https://attacker.example' }],
    ['of a web page on this machine', { origin: 'http://localhost:3000' }],
    ['at an address of a web page', { host: 'attacker.example' }],
    ['with another key', { authorization: signed('LOCAL0123456789ABCDEF') }],
    ['with more than the key', { authorization: 'Bearer LOCAL0123456789ABCDEF' }],
    ['with an empty key', { authorization: '' }],
  ])('an endpoint refuses a request %s', async (_, headers) => {
    const before = state();
    const { body, ...request } = make(stack.variables.AWS_ACCESS_KEY_ID);
    const answer = await rawRequest(address(), { ...request, body, headers: { ...request.headers, ...headers } });
    expect(answer.status).toBeOneOf([400, 401, 403]);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(state()).toEqual(before);
  });

  it('an endpoint refuses a CORS preflight', async () => {
    const headers = { origin: 'https://attacker.example', 'access-control-request-method': 'POST' };
    const answer = await rawRequest(address(), { method: 'OPTIONS', headers });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });
});
