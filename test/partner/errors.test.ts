import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { PartnerClient } from '../../lib/partner/client.ts';
import { createDefect, linkDefect, updateDefect } from '../../lib/partner/defects.ts';
import {
  type PartnerError,
  PartnerRefusal,
  PartnerUnanswered,
  PartnerUnreadable,
  type RefusalFacts,
} from '../../lib/partner/errors.ts';
import { type Operation, rawOperation } from '../../lib/partner/operation.ts';
import { createProject, listProjects } from '../../lib/partner/projects.ts';
import type { SignedRequest } from '../../lib/partner/signed-request.ts';
import { createTask, taskDetail } from '../../lib/partner/tasks.ts';
import { createTestScenario, updateTestScenario } from '../../lib/partner/test-scenarios.ts';
import { createTestStep, deleteTestStep } from '../../lib/partner/test-steps.ts';
import { timelogDetail } from '../../lib/partner/timelogs.ts';
import { validate } from '../../lib/partner/validate.ts';
import { completeChecklistItem, reorderChecklistGroups } from '../../lib/partner/work-item-checklists.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import {
  type Answering,
  clientAtNoon,
  failureOf,
  noon,
  portOf,
  reply,
  type SandboxAndClient,
  sandboxAndClient,
  serverAndClient,
} from './client-at-noon.ts';

/** In every payload that has a place for it, and in no error. */
const canary = 'canary-4711';
const unknownId = '00000000-0000-4000-8000-000000000000';
const defect_id = 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b01';
const test_case_id = 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a01';
const loginTask = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';

/** Wherever an error may end up, it must not carry any of what was signed with, or what was sent. */
function expectNothingSecret(error: PartnerError, request: SignedRequest): void {
  const { apiKey, secretKey } = defaultKey;
  const { 'x-signature': signature = '', 'x-nonce': nonce = '' } = request.headers;
  const secrets = [apiKey, secretKey, signature, nonce, JSON.parse(request.body).encrypted_data, canary];
  expect(secrets.every((secret) => secret.length >= 8)).toBe(true);
  const told = [error.message, String(error), JSON.stringify({ ...error }), error.stack, String(error.cause)];
  for (const text of [...told, inspect(error, { depth: 10 })]) {
    expect(secrets.filter((secret) => text?.includes(secret))).toEqual([]);
  }
}

async function failureOfSending(client: PartnerClient, operation: Operation, payload: object): Promise<PartnerError> {
  const request = client.sign(operation, payload);
  const error = await failureOf(client.send(operation, request));
  expectNothingSecret(error, request);
  return error;
}

const refused = { found: null, fieldErrors: [], reason: null, retryAfterSeconds: null, clockOffsetSeconds: null };

interface SandboxRow {
  name: string;
  operation: Operation;
  payload: object;
  /** What happens between signing and sending. */
  arrange?: (given: SandboxAndClient, request: SignedRequest) => unknown;
  facts: Partial<RefusalFacts> & Pick<RefusalFacts, 'status' | 'serviceMessage'>;
}

describe('a refusal', () => {
  it.each<SandboxRow>([
    {
      name: '400 for a test scenario that fails validation',
      operation: createTestScenario,
      payload: { description: canary },
      facts: {
        status: 400,
        serviceMessage: 'Validation failed',
        fieldErrors: ['project_id: is required', 'name: is required'],
      },
    },
    {
      name: '400 for a test step of an unknown test case',
      operation: createTestStep,
      payload: { test_case_id: unknownId, name: canary },
      facts: { status: 400, serviceMessage: 'Invalid reference: test_case_id' },
    },
    {
      name: '400 for a defect of an unknown project',
      operation: createDefect,
      payload: { project_id: unknownId, title: canary },
      facts: { status: 400, serviceMessage: 'Invalid reference: project_id' },
    },
    {
      name: '400 for a link to an unknown task',
      operation: linkDefect,
      payload: { defect_id, task_id: canary },
      facts: { status: 400, serviceMessage: 'Invalid reference: task_id' },
    },
    {
      name: '401 for a signature made with another secret key',
      operation: createTask,
      payload: { title: canary },
      arrange: ({ sandbox }) => {
        for (const key of sandbox.keys) key.secretKey = 'sk_rotated';
      },
      facts: { status: 401, serviceMessage: 'Invalid signature', reason: 'invalid signature' },
    },
    {
      name: "401 for a clock that is ahead of the service's",
      operation: createTask,
      payload: { title: canary },
      arrange: ({ clocks }) => {
        clocks.sandbox -= 301_000;
      },
      facts: {
        status: 401,
        serviceMessage: 'Timestamp outside window',
        reason: 'timestamp outside window',
        clockOffsetSeconds: -301,
      },
    },
    {
      name: '401 for a nonce that was there before',
      operation: updateDefect,
      payload: { defect_id, title: canary },
      arrange: ({ client }, request) => client.send(updateDefect, request),
      facts: { status: 401, serviceMessage: 'Nonce already used', reason: 'nonce already used' },
    },
    {
      name: '401 for a key that was revoked',
      operation: createTask,
      payload: { title: canary },
      arrange: ({ sandbox }) => sandbox.revokeKey(defaultKey.apiKey),
      facts: { status: 401, serviceMessage: 'Unknown or revoked key', reason: 'unknown or revoked key' },
    },
    {
      name: '401 for a key that the service does not know',
      operation: createTask,
      payload: { title: canary },
      arrange: ({ sandbox }) => sandbox.keys.splice(0),
      facts: { status: 401, serviceMessage: 'Unknown or revoked key', reason: 'unknown or revoked key' },
    },
    {
      name: '403 for a key without the scope',
      operation: createProject,
      payload: { name: canary },
      arrange: ({ sandbox }) => {
        for (const key of sandbox.keys) key.scopes = ['projects.read'];
      },
      facts: { status: 403, serviceMessage: 'Key lacks the scope projects.write' },
    },
    {
      name: '403 for an item of a checklist that may not be managed',
      operation: completeChecklistItem,
      payload: { item_id: 201, is_completed: true },
      facts: { status: 403, serviceMessage: 'Not allowed to manage this checklist' },
    },
    {
      name: '403 for groups of a checklist that may not be managed',
      operation: reorderChecklistGroups,
      payload: { work_item_type: 'task', work_item_id: loginTask, group_ids: [21] },
      facts: { status: 403, serviceMessage: 'Not allowed to manage this checklist' },
    },
    {
      name: '404 for an unknown test scenario',
      operation: updateTestScenario,
      payload: { scenario_id: unknownId, name: canary },
      facts: { status: 404, serviceMessage: 'Test scenario not found' },
    },
    {
      name: '404 for an unknown test step',
      operation: deleteTestStep,
      payload: { test_case_id, step_id: canary },
      facts: { status: 404, serviceMessage: 'Test step not found' },
    },
    {
      name: '404 for an unknown defect',
      operation: updateDefect,
      payload: { defect_id: unknownId, title: canary },
      facts: { status: 404, serviceMessage: 'Defect not found' },
    },
    {
      name: '404 for an unknown work item',
      operation: reorderChecklistGroups,
      payload: { work_item_type: 'task', work_item_id: canary, group_ids: [11] },
      facts: { status: 404, serviceMessage: 'Work item not found' },
    },
    {
      name: '404 for an unknown checklist item',
      operation: completeChecklistItem,
      payload: { item_id: canary, is_completed: true },
      facts: { status: 404, serviceMessage: 'Checklist item not found' },
    },
    {
      name: '404 for a path that the service does not have',
      operation: rawOperation('projects/archive'),
      payload: { name: canary },
      facts: { status: 404, serviceMessage: 'Unknown operation' },
    },
    {
      name: '422 for a project that fails validation',
      operation: createProject,
      payload: { description: canary },
      facts: { status: 422, serviceMessage: 'Validation failed', fieldErrors: ['name: is required'] },
    },
    {
      name: '422 for a task that fails validation',
      operation: taskDetail,
      payload: { task_id: canary },
      facts: { status: 422, serviceMessage: 'Task not found' },
    },
    {
      name: '422 for a time entry that fails validation',
      operation: timelogDetail,
      payload: { timelog_id: canary },
      facts: { status: 422, serviceMessage: 'Time entry not found' },
    },
    {
      name: '429 over the limit, with the time to wait',
      operation: createTask,
      payload: { title: canary },
      arrange: async ({ client }) => {
        await client.call(validate, {});
        await client.call(validate, {});
      },
      facts: { status: 429, serviceMessage: 'Rate limit exceeded', retryAfterSeconds: 60 },
    },
    {
      name: '429 without the time to wait',
      operation: createTask,
      payload: { title: canary },
      arrange: ({ sandbox }) => sandbox.setFault({ kind: 'rate-limited' }),
      facts: { status: 429, serviceMessage: 'Rate limit exceeded' },
    },
    {
      name: '500 before the work',
      operation: createDefect,
      payload: { project_id: unknownId, title: canary },
      arrange: ({ sandbox }) => sandbox.setFault({ kind: 'server-error' }),
      facts: { status: 500, serviceMessage: 'Server Error' },
    },
    {
      name: '500 after the work',
      operation: updateDefect,
      payload: { defect_id, title: canary },
      arrange: ({ sandbox }) => sandbox.setFault({ kind: 'server-error', when: 'after work' }),
      facts: { status: 500, serviceMessage: 'Server Error' },
    },
  ])('$name', async ({ operation, payload, arrange, facts }) => {
    const given = await sandboxAndClient({ rateLimit: { perMinute: 2, tellsRetryAfter: true } });
    const { sandbox, client } = given;
    const request = client.sign(operation, payload);
    await arrange?.(given, request);
    const before = sandbox.requests;

    const error = await failureOf(client.send(operation, request));
    expect(error).toBeInstanceOf(PartnerRefusal);
    expect({ ...error }).toEqual({ ...refused, name: 'PartnerRefusal', operation: operation.name, ...facts });
    const fields = facts.fieldErrors ? ` (${facts.fieldErrors.join('; ')})` : '';
    expect(error.message).toBe(
      `${operation.name}: refused with status ${facts.status}: ${facts.serviceMessage}${fields}`,
    );
    expectNothingSecret(error, request);
    expect(sandbox.requests - before).toBe(1);
  });

  const says = (message: unknown, more: object = {}) => ({ success: false, message, data: null, ...more });

  it.each<[string, number, object, Record<string, string>, Partial<RefusalFacts>]>([
    ['401 in other words', 401, says('Please sign in'), {}, { reason: 'unknown', serviceMessage: 'Please sign in' }],
    ['401 without a message', 401, says(null), {}, { reason: 'unknown', serviceMessage: null }],
    [
      '401 with its reason in a sentence',
      401,
      says('Access denied: UNKNOWN OR REVOKED KEY.'),
      {},
      { reason: 'unknown or revoked key', serviceMessage: 'Access denied: UNKNOWN OR REVOKED KEY.' },
    ],
    [
      '401 with a cause added to its reason',
      401,
      says('Invalid signature: body hash mismatch'),
      {},
      { reason: 'invalid signature', serviceMessage: 'Invalid signature: body hash mismatch' },
    ],
    [
      '403 in the words of a 401',
      403,
      says('Invalid signature'),
      {},
      { reason: null, serviceMessage: 'Invalid signature' },
    ],
    [
      '422 with errors by field',
      422,
      says('Wrong', { errors: { title: 'is required', hours: ['is too much', 'is no number'], deep: { no: 'text' } } }),
      {},
      { serviceMessage: 'Wrong', fieldErrors: ['title: is required', 'hours: is too much; is no number'] },
    ],
    [
      '422 with errors by field inside another one',
      422,
      { error: { message: 'Wrong', details: [{ errors: { title: { message: 'is required' } } }] } },
      {},
      { found: 'not the documented envelope', serviceMessage: 'Wrong', fieldErrors: ['title: is required'] },
    ],
    [
      '422 with a list of errors',
      422,
      says('Wrong', { errors: [{ field: 'title', message: 'is required' }, { detail: 'No' }, 'Nothing', 7] }),
      {},
      { serviceMessage: 'Wrong', fieldErrors: ['title: is required', 'No', 'Nothing'] },
    ],
    [
      '422 with more than anybody reads',
      422,
      says('Wrong', { errors: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, 'x'.repeat(300)])) }),
      {},
      { serviceMessage: 'Wrong', fieldErrors: Array.from({ length: 10 }, (_, n) => `f${n}: ${'x'.repeat(116)}`) },
    ],
    [
      '422 with text for a terminal',
      422,
      says('Wrong\u001b[31m\nred', { errors: { 'a\u202eb': '\u0007is\tno' } }),
      {},
      { serviceMessage: 'Wrong [31m red', fieldErrors: ['ab:  is no'] },
    ],
    ['400 that claims success', 400, { ...says('No'), success: true }, {}, { serviceMessage: 'No' }],
    ['200 that denies success', 200, says('Not today'), {}, { serviceMessage: 'Not today' }],
    [
      '503 with the time to wait',
      503,
      says('Restarting'),
      { 'retry-after': ' 120 ' },
      { retryAfterSeconds: 120, serviceMessage: 'Restarting' },
    ],
    [
      '429 with a date to wait for',
      429,
      says('Slow down'),
      { 'retry-after': new Date(noon + 90_000).toUTCString() },
      { retryAfterSeconds: 90, serviceMessage: 'Slow down' },
    ],
    [
      '429 with a date that has passed',
      429,
      says('Slow down'),
      { 'retry-after': new Date(noon - 90_000).toUTCString() },
      { retryAfterSeconds: 0, serviceMessage: 'Slow down' },
    ],
    [
      '429 with neither',
      429,
      says('Slow down'),
      { 'retry-after': 'soon' },
      { retryAfterSeconds: null, serviceMessage: 'Slow down' },
    ],
    [
      '401 without data',
      401,
      { success: false, message: 'Nonce already used' },
      {},
      { reason: 'nonce already used', serviceMessage: 'Nonce already used' },
    ],
    [
      '422 with a list of messages',
      422,
      { message: ['title is required', 'hours too'], pagination: [] },
      {},
      { found: 'not the documented envelope', serviceMessage: 'title is required; hours too' },
    ],
    [
      '429 with an absurd time to wait',
      429,
      says('Slow down'),
      { 'retry-after': '99999999999999' },
      { retryAfterSeconds: 86_400, serviceMessage: 'Slow down' },
    ],
    [
      '429 with two days to wait',
      429,
      says('Slow down'),
      { 'retry-after': '172800' },
      { retryAfterSeconds: 86_400, serviceMessage: 'Slow down' },
    ],
    [
      '429 with the second until which to wait',
      429,
      says('Slow down'),
      { 'retry-after': String(noon / 1000 + 90) },
      { retryAfterSeconds: 90, serviceMessage: 'Slow down' },
    ],
    [
      '429 with the millisecond until which to wait',
      429,
      says('Slow down'),
      { 'retry-after': String(noon + 90_000) },
      { retryAfterSeconds: 90, serviceMessage: 'Slow down' },
    ],
    [
      '429 with a second that has passed',
      429,
      says('Slow down'),
      { 'retry-after': String(noon / 1000 - 90) },
      { retryAfterSeconds: 0, serviceMessage: 'Slow down' },
    ],
    [
      '429 with a date in years',
      429,
      says('Slow down'),
      { 'retry-after': new Date(noon + 3e12).toUTCString() },
      { retryAfterSeconds: 86_400, serviceMessage: 'Slow down' },
    ],
    [
      '429 with a time to wait that is none',
      429,
      says('Slow down'),
      { 'retry-after': '1.5' },
      { serviceMessage: 'Slow down' },
    ],
    ['400 with a long message', 400, says('x'.repeat(501)), {}, { serviceMessage: 'x'.repeat(500) }],
  ])('%s is told by its fields', async (_, status, body, headers, facts) => {
    const { client, received } = await serverAndClient(reply(status, body, headers));
    const error = await failureOfSending(client, createTask, { title: canary });
    expect(error).toBeInstanceOf(PartnerRefusal);
    expect({ ...error }).toEqual({ ...refused, name: 'PartnerRefusal', operation: 'tasks/create', status, ...facts });
    expect(error.message).toMatch(/^tasks\/create: refused with status \d{3}/);
    expect(received).toHaveLength(1);
  });

  const page = '<html><body>Forbidden</body></html>';

  it.each([400, 401, 403, 404, 422, 429, 500])('a refusal with status %i needs no envelope', async (status) => {
    for (const [body, found, serviceMessage] of [
      [['No'], 'not the documented envelope', 'No'],
      ['"No"', 'not the documented envelope', 'No'],
      ['No', 'not JSON', 'No'],
      ['null', 'not the documented envelope', null],
      ['7', 'not the documented envelope', null],
      [page, 'an HTML page', null],
      ['', 'an empty body', null],
      [{ error: 'No' }, 'not the documented envelope', 'No'],
    ] as const) {
      const { client } = await serverAndClient(reply(status, body));
      const error = await failureOfSending(client, createTask, { title: canary });
      expect(error).toBeInstanceOf(PartnerRefusal);
      expect(error).toMatchObject({ status, found, serviceMessage, fieldErrors: [] });
      expect(error.message).toBe(
        `tasks/create: refused with status ${status}${serviceMessage ? `: ${serviceMessage}` : `, with ${found} instead of the envelope`}`,
      );
    }
  });

  const deep = (levels: number, inside: unknown): unknown => (levels === 0 ? inside : [deep(levels - 1, inside)]);

  it.each<[string, unknown, RefusalFacts['reason']]>([
    ['in error', { error: 'Timestamp outside window' }, 'timestamp outside window'],
    ['as a code', { error: { code: 'timestamp_outside_window' } }, 'timestamp outside window'],
    ['in a list', ['Nonce already used'], 'nonce already used'],
    ['in a nested list', { errors: [{ auth: ['Invalid signature'] }] }, 'invalid signature'],
    ['in another field than the message', says('Unauthorized', { reason: 'Invalid signature' }), 'invalid signature'],
    ['in plain text', 'Unknown or revoked key', 'unknown or revoked key'],
    ['on a page', '<html><h1>Nonce already used</h1>', 'nonce already used'],
    [
      'in the message, next to another one',
      says('Invalid signature', { see: 'Nonce already used' }),
      'invalid signature',
    ],
    ['next to another one', says('No', { see: ['Invalid signature', 'Nonce already used'] }), 'unknown'],
    ['too deep', deep(8, 'Invalid signature'), 'unknown'],
    ['behind too much', [...Array.from({ length: 2_000 }, () => 'x'), 'Invalid signature'], 'unknown'],
    ['nowhere', { error: 'Please sign in' }, 'unknown'],
  ])('the reason of a 401 is found %s', async (_, body, reason) => {
    const { client } = await serverAndClient(reply(401, body, { date: new Date(noon + 60_000).toUTCString() }));
    const error = await failureOfSending(client, createTask, { title: canary });
    const clockOffsetSeconds = reason === 'timestamp outside window' ? 60 : null;
    expect(error).toMatchObject({ name: 'PartnerRefusal', status: 401, reason, clockOffsetSeconds });
  });

  it.each([200, 400, 401, 403, 404, 422, 429, 500])(
    "a refusal with status %i shows no key, signature or nonce from the service's message",
    async (status) => {
      const { client } = await serverAndClient(({ headers }, response) => {
        const { 'x-api-key': apiKey, 'x-signature': signature, 'x-nonce': nonce } = headers;
        const message = `${apiKey}: ${signature} with ${nonce} is not ${defaultKey.secretKey}; again ${apiKey}`;
        reply(status, says(message))({ path: '', headers, body: '' }, response);
      });
      const error = await failureOfSending(client, createTask, { title: canary });
      expect(error).toMatchObject({
        status,
        serviceMessage: '[removed]: [removed] with [removed] is not [removed]; again [removed]',
      });
    },
  );

  it('a cut message contains no part of a signature', async () => {
    const { client } = await serverAndClient(({ headers }, response) => {
      const message = 'x'.repeat(480) + headers['x-signature'] + 'y'.repeat(100);
      response.writeHead(401).end(JSON.stringify(says(message)));
    });
    const error = await failureOfSending(client, createTask, { title: canary });
    expect(error).toMatchObject({ serviceMessage: `${'x'.repeat(480)}[removed]${'y'.repeat(11)}` });
  });
});

describe('an unreadable answer', () => {
  it.each([
    ['a maintenance page', { kind: 'maintenance' }, 503, 'an HTML page', 'an HTML page'],
    [
      'a redirect to a login page',
      { kind: 'login-redirect' },
      302,
      'a redirect',
      'a redirect (to /login; is the base URL right, and is the instance up?)',
    ],
    ['an empty body', { kind: 'empty-body' }, 200, 'an empty body', 'an empty body'],
    ['half a body', { kind: 'not-json' }, 200, 'not JSON', 'not JSON'],
  ] as const)('of the sandbox: %s', async (_, fault, status, found, told) => {
    const { sandbox, client } = await sandboxAndClient();
    sandbox.setFault(fault);
    const error = await failureOfSending(client, updateDefect, { defect_id, title: canary });
    expect(error).toBeInstanceOf(PartnerUnreadable);
    expect({ ...error }).toEqual({
      name: 'PartnerUnreadable',
      operation: 'defects/update',
      status,
      found,
      retryAfterSeconds: null,
    });
    expect(error.message).toBe(`defects/update: unreadable answer with status ${status}: ${told}`);
    expect(sandbox.requests).toBe(1);
  });

  const page = '<html><body>Sign in</body></html>';

  it.each<[string, number, unknown, Record<string, string>, PartnerUnreadable['found'], string]>([
    ['a page of a proxy', 502, ` \n${page}`, {}, 'an HTML page', ''],
    ['a page instead of a 503', 503, page, {}, 'an HTML page', ''],
    ['a page for a status of no meaning here', 418, page, {}, 'an HTML page', ''],
    ['a page instead of a result', 200, `<!DOCTYPE html>${page}`, {}, 'an HTML page', ''],
    ['plain text', 502, 'Bad gateway', {}, 'not JSON', ''],
    ['nothing but white space', 200, ' \n', {}, 'an empty body', ''],
    ['nothing', 504, '', {}, 'an empty body', ''],
    ['a redirect without a target', 301, page, {}, 'a redirect', ' (without a Location)'],
    [
      'a redirect with a token',
      307,
      '',
      { location: 'https://sso.example.com/in?token=canary-4711#canary-4711' },
      'a redirect',
      ' (to https://sso.example.com/in; is the base URL right, and is the instance up?)',
    ],
    ['JSON of something else', 200, { error: canary }, {}, 'not the documented envelope', ' (success: missing)'],
    ['a list', 200, [{ project_id: canary }], {}, 'not the documented envelope', ' (body: invalid_type)'],
    ['a text', 200, '"canary-4711"', {}, 'not the documented envelope', ' (body: invalid_type)'],
    ['null', 200, null, {}, 'not the documented envelope', ' (body: invalid_type)'],
    [
      'an envelope of other types',
      200,
      { success: canary, data: [], pagination: { current_page: canary, last_page: 1 } },
      {},
      'not the documented envelope',
      ' (success: invalid_value, pagination.current_page: invalid_type)',
    ],
    [
      'data of another shape',
      200,
      { success: true, message: canary, data: { rows: canary } },
      {},
      'other data than declared',
      ' (data: invalid_type; it has rows)',
    ],
    [
      'rows without what identifies them',
      200,
      { success: true, data: [{ project_id: 'a' }, { project_id: 7, name: canary }, { name: false }] },
      {},
      'other data than declared',
      ' (data.1.project_id: invalid_type, data.2.project_id: missing, data.2.name: invalid_type; it has project_id, name)',
    ],
  ])('of something else: %s', async (_, status, body, headers, found, hint) => {
    const { client, received } = await serverAndClient(reply(status, body, headers));
    const error = await failureOfSending(client, listProjects, {});
    expect(error).toBeInstanceOf(PartnerUnreadable);
    expect(error).toMatchObject({ operation: 'projects/list', status, found });
    expect(error.message).toBe(`projects/list: unreadable answer with status ${status}: ${found}${hint}`);
    expect(received).toHaveLength(1);
  });

  it('an unreadable answer names the missing field, the existing ones, and where to correct it', async () => {
    const data = { id: canary, title: canary, '\u001b[31mred': 1 };
    const { client } = await serverAndClient(reply(201, { success: true, data }));
    const error = await failureOfSending(client, createDefect, { title: canary });
    expect(error).toMatchObject({ name: 'PartnerUnreadable', status: 201, found: 'other data than declared' });
    expect(error.message).toBe(
      "defects/create: unreadable answer with status 201: other data than declared (data.defect_id: missing; it has id, title,  [31mred; name the right fields in relay.config.ts, under connections.<name>.operations['defects/create'].fields)",
    );
  });

  it("a redirect's target never shows a key, signature or nonce", async () => {
    const { client } = await serverAndClient(({ headers }, response) => {
      const location = `/${headers['x-api-key']}/${headers['x-signature']}/${headers['x-nonce']}?${canary}`;
      response.writeHead(302, { location }).end();
    });
    const error = await failureOfSending(client, createTask, { title: canary });
    expect(error.message).toContain('(to /[removed]/[removed]/[removed];');
  });

  it("a page's Retry-After is used", async () => {
    const { client } = await serverAndClient(reply(503, page, { 'retry-after': '30' }));
    expect(await failureOfSending(client, listProjects, {})).toMatchObject({ status: 503, retryAfterSeconds: 30 });
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect with status %i is not followed, even on the same server',
    async (status) => {
      const location = '/api/v1/partner/projects/search';
      const { client, received } = await serverAndClient(reply(status, '', { location }));
      const error = await failureOfSending(client, listProjects, {});
      expect(error).toMatchObject({ name: 'PartnerUnreadable', status, found: 'a redirect' });
      expect(received.map(({ path }) => path)).toEqual(['/api/v1/partner/projects/list']);
    },
  );
});

describe('no answer', () => {
  const halfAnAnswer = (response: ServerResponse) => response.writeHead(200, { 'content-length': '99' }).write('{"su');

  const cutBy = async (when: 'before work' | 'after work') => {
    const { sandbox, client } = await sandboxAndClient();
    sandbox.setFault({ kind: 'cut', when });
    return client;
  };
  const ofServer = async (answer: Answering, timeoutMs?: number) =>
    (await serverAndClient(answer, timeoutMs === undefined ? {} : { timeoutMs })).client;

  it.each<{ name: string; given: () => Promise<PartnerClient>; sent: boolean; why: RegExp }>([
    {
      name: 'a connection that is cut before the work',
      given: () => cutBy('before work'),
      sent: true,
      why: /^the connection was cut \(UND_ERR_SOCKET\)$/,
    },
    {
      name: 'a connection that is cut after the work',
      given: () => cutBy('after work'),
      sent: true,
      why: /^the connection was cut \(UND_ERR_SOCKET\)$/,
    },
    {
      name: 'a connection that is cut in the middle of the answer',
      given: () =>
        ofServer((_, response) => {
          halfAnAnswer(response);
          // What was written goes out first, and the end of the connection after it.
          response.socket?.end();
        }),
      sent: true,
      why: /^the connection was cut \(UND_ERR_SOCKET\)$/,
    },
    {
      name: 'an answer in another protocol',
      given: () => ofServer((_, response) => response.socket?.end('SSH-2.0-OpenSSH\r\n')),
      sent: true,
      why: /^the connection was cut/,
    },
    {
      name: 'a server that never answers',
      given: async () => {
        const { sandbox } = await sandboxAndClient();
        sandbox.setFault({ kind: 'latency', ms: 3_600_000 });
        return clientAtNoon(sandbox.url, { timeoutMs: 20 });
      },
      sent: true,
      why: /^nothing within 0\.02 s$/,
    },
    {
      name: 'a server that never ends its answer',
      given: () => ofServer((_, response) => halfAnAnswer(response), 20),
      sent: true,
      why: /^nothing within 0\.02 s$/,
    },
    {
      name: 'a port that nobody listens on',
      given: async () => {
        const server = createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        server.close();
        await once(server, 'close');
        return clientAtNoon(`http://127.0.0.1:${port}`);
      },
      sent: false,
      why: /^the instance cannot be reached \(ECONNREFUSED\)$/,
    },
    {
      name: 'a server that does not speak TLS',
      given: async () => clientAtNoon((await sandboxAndClient()).sandbox.url.replace('http:', 'https:')),
      sent: false,
      why: /^no trusted TLS connection \(ERR_SSL_/,
    },
    {
      name: 'a TLS server without a certificate',
      given: async () => clientAtNoon(`https://127.0.0.1:${await portOf(createTlsServer())}`),
      sent: false,
      why: /^no trusted TLS connection \(ERR_SSL_/,
    },
  ])('from $name', async ({ given, sent, why }) => {
    const error = await failureOfSending(await given(), updateDefect, { defect_id, title: canary });
    expect(error).toBeInstanceOf(PartnerUnanswered);
    expect({ ...error }).toEqual({
      name: 'PartnerUnanswered',
      operation: 'defects/update',
      status: null,
      retryAfterSeconds: null,
      sent,
    });
    const [told, reason = ''] = error.message.split('defects/update: no answer: ');
    expect(told).toBe('');
    expect(reason).toMatch(why);
    expect(error.cause).toBeInstanceOf(Error);
  });
});
