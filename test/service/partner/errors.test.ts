import http, { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PartnerClient } from '../../../lib/service/partner/client.ts';
import {
  type PartnerError,
  PartnerRefusal,
  PartnerUnanswered,
  PartnerUnreadable,
  type RefusalFacts,
} from '../../../lib/service/partner/errors.ts';
import { type Operation, rawOperation, validate } from '../../../lib/service/partner/operation.ts';
import { createDefect, updateDefect } from '../../../lib/service/partner/operations/defects.ts';
import { listProjects } from '../../../lib/service/partner/operations/projects.ts';
import { createTask } from '../../../lib/service/partner/operations/tasks.ts';
import type { SignedRequest } from '../../../lib/service/partner/signed-request.ts';
import { defaultKey, type Sandbox } from '../../../sandbox/sandbox.ts';
import { canary, defect_id, refused } from '../../partner-contract.ts';
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

const MB = 1024 * 1024;
const DATA = '{"success":true,"data":[{}';

/** Errors must contain neither the key nor the sent data, because they may end up anywhere. */
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

const noFacts = { found: null, fieldErrors: [], reason: null, retryAfterSeconds: null, clockOffsetSeconds: null };

type Arrange = (given: SandboxAndClient, request: SignedRequest) => unknown;

/** Changes between signing and sending. */
const changeKey =
  (change: Partial<Sandbox['keys'][number]>): Arrange =>
  ({ sandbox }) => {
    for (const key of sandbox.keys) Object.assign(key, change);
  };
const fault =
  (what: Parameters<Sandbox['setFault']>[0]): Arrange =>
  ({ sandbox }) =>
    sandbox.setFault(what);
const setBack: Arrange = ({ clocks }) => Object.assign(clocks, { sandbox: noon - 301_000 });
const revokeKey: Arrange = ({ sandbox }) => sandbox.revokeKey(defaultKey.apiKey);
const sendFirst: Arrange = ({ client }, request) => client.send(updateDefect, request);
const spendLimit: Arrange = async ({ client }) => [await client.call(validate, {}), await client.call(validate, {})];
const nothing: Arrange = () => {};

const update = [updateDefect, { defect_id, title: canary }] as const;
const create = [createTask, { title: canary }] as const;
const reason = (reason: RefusalFacts['reason']) => ({ reason });
const late = { reason: 'timestamp outside window', clockOffsetSeconds: -301 } as const;

type RefusalRow = [number, string, readonly [Operation, object], Partial<RefusalFacts>?, Arrange?];

describe('a refusal', () => {
  const ofPayloads = refused.map(([status, message, operation, payload, errors = {}]): RefusalRow => {
    const fieldErrors = Object.entries(errors).map(([field, fault]) => `${field}: ${fault}`);
    return [status, message, [operation, payload], { fieldErrors }];
  });

  it.each<RefusalRow>([
    ...ofPayloads,
    [401, 'Invalid signature', create, reason('invalid signature'), changeKey({ secretKey: 'sk_rotated' })],
    [401, 'Timestamp outside window', create, late, setBack],
    [401, 'Nonce already used', update, reason('nonce already used'), sendFirst],
    [401, 'Unknown or revoked key', create, reason('unknown or revoked key'), revokeKey],
    [403, 'Key lacks the scope tasks.write', create, {}, changeKey({ scopes: ['tasks.read'] })],
    [404, 'Unknown operation', [rawOperation('projects/archive'), { name: canary }]],
    [429, 'Rate limit exceeded', create, { retryAfterSeconds: 60 }, spendLimit],
    [429, 'Rate limit exceeded', create, {}, fault({ kind: 'rate-limited' })],
    [500, 'Server Error', update, {}, fault({ kind: 'server-error' })],
  ])(
    'of the sandbox is recognized by its fields: %i %s',
    async (status, serviceMessage, [operation, payload], facts = {}, arrange = nothing) => {
      const given = await sandboxAndClient({ rateLimit: { perMinute: 2, tellsRetryAfter: true } });
      const { sandbox, client } = given;
      const request = client.sign(operation, payload);
      await arrange(given, request);
      const before = sandbox.requests;

      const error = await failureOf(client.send(operation, request));
      expect(error).toBeInstanceOf(PartnerRefusal);
      const common = { ...noFacts, name: 'PartnerRefusal', operation: operation.name, status, serviceMessage };
      expect({ ...error }).toEqual({ ...common, ...facts });
      const fields = facts.fieldErrors?.length ? ` (${facts.fieldErrors.join('; ')})` : '';
      const arrived = 'the same request had already arrived, so the service answers';
      const refused = status >= 500 ? 'the service answers' : 'refused with status';
      const answer = facts.reason === 'nonce already used' ? arrived : refused;
      expect(error.message).toBe(`${operation.name}: ${answer} ${status}: ${serviceMessage}${fields}`);
      expectNothingSecret(error, request);
      expect(sandbox.requests - before).toBe(1);
    },
  );

  const says = (message: unknown, more: object = {}) => ({ success: false, message, data: null, ...more });

  const wrong = (errors: object) => says('Wrong', { errors });
  const byField = { title: 'is required', hours: ['is too much', 'is no number'], deep: { no: 'text' } };
  const inside = { error: { message: 'Wrong', details: [{ errors: { title: { message: 'is required' } } }] } };
  const list = [{ field: 'title', message: 'is required' }, { detail: 'No' }, 'Nothing', 7];
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, 'x'.repeat(300)]));
  const read = Array.from({ length: 10 }, (_, n) => `f${n}: ${'x'.repeat(116)}`);
  const forTerminal = says('Wrong\u001b[31m\nred', { errors: { 'a\u202eb': '\u0007is\tno' } });
  const messages = { message: [...'abcdefghijk'] };
  const notEnvelope = { found: 'not the documented envelope', serviceMessage: 'Wrong' } as const;
  const joined = { ...notEnvelope, serviceMessage: [...'abcdefghij'].join('; ') };
  const required = ['title: is required'];

  it.each<[string, number, object, Partial<RefusalFacts>]>([
    ['other words', 401, says('Please sign in'), { reason: 'unknown', serviceMessage: 'Please sign in' }],
    ['no message', 401, says(null), { reason: 'unknown', serviceMessage: null }],
    ['a reason in a sentence', 401, says('No: UNKNOWN OR REVOKED KEY.'), reason('unknown or revoked key')],
    ['the words of a 401', 403, says('Invalid signature'), { reason: null }],
    ['errors by field', 422, wrong(byField), { fieldErrors: [...required, 'hours: is too much; is no number'] }],
    ['errors by field inside another one', 422, inside, { ...notEnvelope, fieldErrors: required }],
    ['a list of errors', 422, wrong(list), { fieldErrors: [...required, 'No', 'Nothing'] }],
    ['more than anybody reads', 422, wrong(many), { fieldErrors: read }],
    ['text for a terminal', 422, forTerminal, { serviceMessage: 'Wrong [31m red', fieldErrors: ['ab:  is no'] }],
    ['a list of messages', 422, messages, joined],
    ['a claim of success', 400, { ...says('No'), success: true }, {}],
    ['a success status', 200, says('Not today'), {}],
    ['a long message', 400, says('x'.repeat(501)), { serviceMessage: 'x'.repeat(500) }],
  ])('with %s is recognized by its fields', async (_, status, body, facts) => {
    const { client, received } = await serverAndClient(reply(status, body));
    const error = await failureOfSending(client, createTask, { title: canary });
    expect(error).toBeInstanceOf(PartnerRefusal);
    const { message: serviceMessage } = body as { message?: unknown };
    const common = { ...noFacts, name: 'PartnerRefusal', operation: 'tasks/create', status, serviceMessage };
    expect({ ...error }).toEqual({ ...common, ...facts });
    expect(error.message).toMatch(/^tasks\/create: refused with status \d{3}/);
    expect(received).toHaveLength(1);
  });

  it.each<[string, string, number | null]>([
    ['seconds', ' 120 ', 120],
    ['a date', new Date(noon + 90_000).toUTCString(), 90],
    ['a date that has passed', new Date(noon - 90_000).toUTCString(), 0],
    ['a date in years', new Date(noon + 3e12).toUTCString(), 86_400],
    ['two days', '172800', 86_400],
    ['an absurd time', '99999999999999', 86_400],
    ['the second itself', String(noon / 1000 + 90), 90],
    ['the millisecond itself', String(noon + 90_000), 90],
    ['a second that has passed', String(noon / 1000 - 90), 0],
    ['a fraction', '1.5', null],
    ['a word', 'soon', null],
  ])('says how long to wait by Retry-After: %s', async (_, value, retryAfterSeconds) => {
    const { client } = await serverAndClient(reply(429, says('Slow down'), { 'retry-after': value }));
    const error = await failureOfSending(client, createTask, { title: canary });
    expect(error).toMatchObject({ status: 429, retryAfterSeconds, serviceMessage: 'Slow down' });
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
      const answer = `${status >= 500 ? 'the service answers' : 'refused with status'} ${status}`;
      const isElsewhere = status === 404 && (found === 'an HTML page' || found === 'not JSON');
      expect(error.message).toContain(
        isElsewhere
          ? 'the address answers 404 with a web page or other text'
          : `tasks/create: ${answer}${serviceMessage ? `: ${serviceMessage}` : ` (${found})`}`,
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
    ['in the message, next to others', says('Invalid signature', { see: 'Nonce already used' }), 'invalid signature'],
    ['next to another one', says('No', { see: ['Invalid signature', 'Nonce already used'] }), 'unknown'],
    ['deep', deep(7, 'Invalid signature'), 'invalid signature'],
    ['too deep', deep(8, 'Invalid signature'), 'unknown'],
    ['behind much', [...Array(998).fill('x'), 'Invalid signature'], 'invalid signature'],
    ['behind too much', [...Array(999).fill('x'), 'Invalid signature'], 'unknown'],
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
      const serviceMessage = '[removed]: [removed] with [removed] is not [removed]; again [removed]';
      expect(error).toMatchObject({ status, serviceMessage });
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

const unreadable = (status: number, what: string) =>
  status < 300 ? `the answer (${status}) is ${what}` : `the service answers ${status} (${what})`;

describe('an unreadable answer', () => {
  const page = '<html><body>Sign in</body></html>';
  const NO_ENVELOPE = 'not the documented envelope';
  const OTHER_DATA = 'other data than declared';
  const TARGET = 'https://sso.example.com/in';
  const LEADS = `to ${TARGET}; check that the base URL is right and the instance is up`;
  const otherTypes = { success: canary, data: [], pagination: { current_page: canary, last_page: 1 } };
  const TYPES = 'success: invalid_value, pagination.current_page: invalid_type';
  const of = (data: unknown) => ({ success: true, message: canary, data });
  const unnamed = [{ project_id: 'a' }, { project_id: 7, name: canary }, { name: false }];
  const UNNAMED = 'data.1.project_id: invalid_type; it has project_id, name';

  it.each<[string, number, unknown, Record<string, string>, PartnerUnreadable['found'], string]>([
    ['a page of a proxy', 502, ` \n${page}`, {}, 'an HTML page', ''],
    ['a page that says that the service is being changed', 503, page, {}, 'an HTML page', ''],
    ['a page instead of a result', 200, `<!DOCTYPE html>${page}`, {}, 'an HTML page', ''],
    ['plain text', 502, 'Bad gateway', {}, 'not JSON', ''],
    ['nothing but white space', 200, ' \n', {}, 'an empty body', ''],
    ['nothing', 504, '', {}, 'an empty body', ''],
    ['a redirect without a target', 301, page, {}, 'a redirect', 'without a Location'],
    ['a redirect with a token', 307, '', { location: `${TARGET}?token=canary-4711#canary-4711` }, 'a redirect', LEADS],
    ['JSON of something else', 200, { error: canary }, {}, NO_ENVELOPE, 'success: missing'],
    ['a list', 200, [{ project_id: canary }], {}, NO_ENVELOPE, 'body: invalid_type'],
    ['null', 200, null, {}, NO_ENVELOPE, 'body: invalid_type'],
    ['an envelope of other types', 200, otherTypes, {}, NO_ENVELOPE, TYPES],
    ['data of another shape', 200, of({ rows: canary }), {}, OTHER_DATA, 'data: invalid_type; it has rows'],
    ['rows without what identifies them', 200, of(unnamed), {}, OTHER_DATA, UNNAMED],
  ])('of something else: %s', async (_, status, body, headers, found, hint) => {
    const { client, received } = await serverAndClient(reply(status, body, headers));
    const error = await failureOfSending(client, listProjects, {});
    expect(error).toBeInstanceOf(PartnerUnreadable);
    expect(error).toMatchObject({ operation: 'projects/list', status, found });
    const shown = status === 503 ? 'a maintenance page' : found;
    expect(error.message).toBe(`projects/list: ${unreadable(status, `${shown}${hint && `: ${hint}`}`)}`);
    expect(received).toHaveLength(1);
  });

  const VALUES = 'a body that is too large: more than 100000 JSON values';
  it.each([
    [200, 128 * MB, '', 'x', 'PartnerUnreadable', 'a body that is too large: more than 8 MB'],
    [200, 8 * MB - 2, '', 'x', 'PartnerUnreadable', 'not JSON'],
    [422, 128 * MB, '', 'x', 'PartnerRefusal', `refused with status 422: ${'x'.repeat(500)}`],
    [200, 7 * MB, DATA, ',{}', 'PartnerUnreadable', VALUES],
    [418, 7 * MB, DATA, '{"a":', 'PartnerUnreadable', VALUES],
    [200, 90_000, DATA, ',{}', 'PartnerUnreadable', `${OTHER_DATA}: data.0.project_id: missing; it has no fields`],
  ])('a small compressed answer with status %i of %i bytes is not unpacked beyond its bounds: %s%s', async (...row) => {
    const [status, bytes, begins, repeated, name, told] = row;
    const bomb = gzipSync(Buffer.concat([Buffer.from(begins), Buffer.alloc(bytes, repeated), Buffer.from(']}')]));
    expect(bomb.length).toBeLessThan(200 * 1024);
    const { client } = await serverAndClient((_, response) => {
      response.writeHead(status, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const error = await failureOfSending(client, listProjects, {});
    const message = name === 'PartnerRefusal' ? told : unreadable(status, told);
    expect(error).toMatchObject({ name, message: `projects/list: ${message}` });
  });

  it('commas, brackets and quotes within texts do not count as values', async () => {
    const name = '{[,"\\'.repeat(100_000);
    const data = ['{[,'.repeat(100_000), name].map((name) => ({ project_id: 'a', name }));
    const { client } = await serverAndClient(reply(200, { success: true, message: '', data }));
    expect((await client.call(listProjects, {})).data).toEqual(data);
  });

  it('an unreadable answer names the missing field, the existing ones, and where to correct it', async () => {
    const others = Array.from({ length: 17 }, (_, n) => `other${n}`);
    const names = [`\u001b[31m${'red'.repeat(20)}`, ...others, 'beyond'];
    const data = { id: canary, title: canary, ...Object.fromEntries(names.map((name) => [name, canary])) };
    const shown = ['id', 'title', ` [31m${'red'.repeat(11)}re`, ...others].join(', ');
    const { client } = await serverAndClient(reply(201, { success: true, data }));
    const error = await failureOfSending(client, createDefect, { title: canary });
    expect(error).toMatchObject({ name: 'PartnerUnreadable', status: 201, found: 'other data than declared' });
    expect(error.message).toBe(
      `defects/create: the answer (201) is other data than declared: data.defect_id: missing; it has ${shown}; name the right fields in relay.config.ts, under connections.<name>.operations['defects/create'].fields`,
    );
  });

  it("a redirect's target never shows a key, signature or nonce", async () => {
    const { client } = await serverAndClient(({ headers }, response) => {
      const location = `/${headers['x-api-key']}/${headers['x-signature']}/${headers['x-nonce']}?${canary}`;
      response.writeHead(302, { location }).end();
    });
    const error = await failureOfSending(client, createTask, { title: canary });
    expect(error.message).toContain(': to /[removed]/[removed]/[removed];');
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

  const never = async () => {
    const { sandbox } = await sandboxAndClient();
    sandbox.setFault({ kind: 'latency', ms: 3_600_000 });
    return clientAtNoon(sandbox.url, { timeoutMs: 20 });
  };
  const cutInTheMiddle: Answering = (_, response) => {
    halfAnAnswer(response);
    // The written bytes leave first, and then the end of the connection.
    response.socket?.end();
  };
  const atClosedPort = async () => clientAtNoon('http://127.0.0.1:2');
  const inAnotherProtocol: Answering = (_, response) => response.socket?.end('SSH-2.0-OpenSSH\r\n');
  const withoutTls = async () => clientAtNoon((await sandboxAndClient()).sandbox.url.replace('http:', 'https:'));
  const withoutCertificate = async () => clientAtNoon(`https://127.0.0.1:${await portOf(createTlsServer())}`);
  const refusedByProxy = async () => {
    const proxy = createServer().on('connect', (_, socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    onTestFinished(http.setGlobalProxyFromEnv({ https_proxy: `http://127.0.0.1:${await portOf(proxy)}` }));
    return clientAtNoon('https://pm.example.com');
  };
  const brokenRecord = async () => {
    const body = new ReadableStream({
      start: (stream) => stream.error(Object.assign(new Error('bad record'), { code: 'ERR_SSL_BAD_RECORD' })),
    });
    return clientAtNoon('https://pm.example.com', { fetch: async () => new Response(body) });
  };
  const isCut = /^the connection was cut \(UND_ERR_SOCKET\)$/;
  const isLate = /^the service did not answer within 0\.02 s$/;
  const isNoTls = /^there is no trusted TLS connection \(ERR_SSL_/;

  it.each<[string, () => Promise<PartnerClient>, boolean, RegExp]>([
    ['a connection that is cut before the work', () => cutBy('before work'), true, isCut],
    ['a connection that is cut after the work', () => cutBy('after work'), true, isCut],
    ['a connection that is cut in the middle of the answer', () => ofServer(cutInTheMiddle), true, isCut],
    ['a broken TLS record in the middle of the answer', brokenRecord, true, /ERR_SSL_BAD_RECORD/],
    ['an answer in another protocol', () => ofServer(inAnotherProtocol), true, /^the connection was cut/],
    ['a server that never answers', never, true, isLate],
    ['a server that never ends its answer', () => ofServer((_, response) => halfAnAnswer(response), 20), true, isLate],
    ['a port that nobody listens on', atClosedPort, false, /^the service cannot be reached \(ECONNREFUSED\)$/],
    ['a server that does not speak TLS', withoutTls, false, isNoTls],
    ['a TLS server without a certificate', withoutCertificate, false, isNoTls],
    ['a proxy that refuses', refusedByProxy, false, /^the proxy does not connect to the service \(502\)$/],
  ])('from %s', async (_, given, sent, why) => {
    const error = await failureOfSending(await given(), updateDefect, { defect_id, title: canary });
    expect(error).toBeInstanceOf(PartnerUnanswered);
    const facts = { operation: 'defects/update', status: null, retryAfterSeconds: null, sent };
    expect({ ...error }).toEqual({ name: 'PartnerUnanswered', ...facts });
    const [told, reason = ''] = error.message.split('defects/update: ');
    expect(told).toBe('');
    expect(reason).toMatch(why);
    expect(error.cause).toBeInstanceOf(Error);
  });
});
