import { createHmac } from 'node:crypto';
import { hmac, token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { secretFault } from '../../lib/intake/hooks/is-genuine.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const digest = (encoding: 'hex' | 'base64', secret: string | Buffer, text: string) =>
  createHmac('sha256', secret).update(text).digest(encoding);

const seen: unknown[] = [];
const run = async () => 'done';
const file = (verify?: ReturnType<typeof token>) => ({
  on: webhook({
    ...(verify && { verify }),
    body: z.object({ test: z.number(), fails: z.optional(z.string()) }),
    input: { test: z.number() },
    job(body) {
      seen.push(body);
      if (body.fails) throw new Error(body.fails);
      return body.test === 0 ? 'a zero needs nothing' : { happened: [body.test], input: { test: body.test } };
    },
  }),
  run,
});

// https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/index.test.ts
const KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const AT = '1614265330';
const BODY = '{"test": 2432232314}';
const PUBLISHED = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

const signature = { header: 'X-Signature', encoding: 'hex' } as const;
const inHeader = { header: 'X-Parts', prefix: 'v1=', signs: '{part:t}.{part:n}.{header:X-Id}.{body}' } as const;
const verify = token({ header: 'X-Token' });
const text = { text: z.string() };
const row = z.object({ id: z.number(), test: z.number() });
const keep = (all: unknown) => ({ happened: [JSON.stringify(all).slice(0, 100)] as const, input: { all } });
const challenge = { field: 'challenge', answer: { challenge: '{value}' } } as const;

const own = {
  standard: file(),
  versioned: file(),
  sentry: file(hmac({ header: 'Sentry-Hook-Signature', encoding: 'hex' })),
  pagerduty: file(hmac({ header: 'X-PagerDuty-Signature', encoding: 'hex', prefix: 'v1=' })),
  github: file(hmac({ header: 'X-Hub-Signature-256', encoding: 'hex', prefix: 'sha256=' })),
  shopify: file(hmac({ header: 'X-Shopify-Hmac-SHA256', encoding: 'base64' })),
  timed: file(hmac({ ...signature, signs: '{header:X-Timestamp}.{body}', time: 'header:X-Timestamp' })),
  parts: file(hmac({ ...inHeader, encoding: 'hex', time: 'part:t' })),
  encoded: file(hmac({ ...signature, hash: 'sha512', key: 'base64' })),
  told: {
    on: webhook({
      verify,
      headers: ['X-Event-Key', 'x-other'],
      body: z.unknown(),
      input: { event: z.optional(z.string()), other: z.optional(z.string()) },
      job: (_, headers) => {
        // @ts-expect-error
        void headers['X-Event-Key'];
        return { happened: [1], input: { event: headers['x-event-key'], other: headers['x-other'] } };
      },
    }),
    run,
  },
  asked: { on: webhook({ challenge, body: z.unknown(), input: {}, job: () => 'none' }), run },
  gitlab: file(token({ header: 'X-Gitlab-Token' })),
  forgotten: file(),
  prefix: file(),
  placeholder: file(),
  blank: file(hmac(signature)),
  weak: file(),
  constructor: file(),
  large: {
    on: webhook({ verify, body: z.object(text), input: text, job: (input) => ({ happened: [1], input }) }),
    run,
  },
  kept: { on: webhook({ verify, body: z.unknown(), input: { all: z.unknown() }, job: keep }), run },
  records: { on: webhook({ verify, body: z.record(z.string(), row), input: {}, job: () => 'none' }), run },
};
type Name = keyof typeof own;

const secrets = {
  standard: `whsec_${KEY}`,
  versioned: `v1,whsec_${KEY}`,
  sentry: ['current', 'previous'],
  pagerduty: 'of pagerduty',
  github: "It's a Secret to Everybody",
  shopify: 'hush',
  timed: 'of timed',
  parts: 'of parts',
  encoded: KEY,
  told: 'of told',
  gitlab: 'of gitlab',
  prefix: 'whsec_',
  placeholder: '********',
  blank: ' ',
  weak: 'geheim',
  records: 'of records',
  large: 'of large',
  kept: 'of kept',
};

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ own });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}hooks`, secrets);
});
beforeEach(() => {
  relay.clock.now = Number(AT) * 1_000;
  seen.length = 0;
});

const post = async (name: string, headers: Record<string, string>, body = BODY) => {
  const url = new URL(`/hooks/${name}`, relay.url);
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
};

const standard = (signatures = PUBLISHED, at = AT) => ({
  'webhook-id': ID,
  'webhook-timestamp': at,
  'webhook-signature': signatures,
});
const v1 = (key: string | Buffer, at: number | string = AT, body = BODY) =>
  `v1,${digest('base64', key, `${ID}.${at}.${body}`)}`;
const signatureAt = (at: number | string, body = BODY) =>
  [v1(Buffer.from(KEY, 'base64'), at, body), String(at)] as const;
const signed = (body: string, at = AT) => standard(...signatureAt(at, body));

/** These headers' earlier names, which some senders still use. */
const svix = (signatures = PUBLISHED, at = AT) => ({
  'svix-id': ID,
  'svix-timestamp': at,
  'svix-signature': signatures,
});

/** A signature with its time in the same header, and the id in another header. */
const inParts = (at: string, id: string, n = '7', signs = `${at}.${n}.${id}.${BODY}`) => ({
  'x-parts': `t=${at},n=${n},v1=${digest('hex', 'of parts', signs)}`,
  'x-id': id,
});

const ONE = inParts(AT, 'one');

const hexOf = (secret: string) => digest('hex', secret, BODY);
const sha512 = (key: string | Buffer) => createHmac('sha512', key).update(BODY).digest('hex');

/** A signature whose time has passed. */
const OVER = signatureAt(Number(AT) - 301);
const timed = (at: string) => ({ 'x-timestamp': at, 'x-signature': digest('hex', 'of timed', `${at}.${BODY}`) });
const OF_GITHUB = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

describe('the verification of a request', () => {
  it.each<[string, number, Name, Record<string, string>, string?]>([
    ['the published example of Standard Webhooks', 200, 'standard', standard()],
    ['one of several signatures', 200, 'standard', standard(`v1,AAAA ${PUBLISHED} v1a,AAAA`)],
    ['a signature of another version', 401, 'standard', standard(PUBLISHED.replace('v1,', 'v2,'))],
    ['the headers of Svix', 200, 'standard', svix()],
    ['the headers of Svix, and another body', 401, 'standard', svix(), '{"test": 1}'],
    ['the headers of Svix, with a time that is over', 401, 'standard', svix(...OVER)],
    ['those, and another time in the others', 401, 'standard', { ...svix(...OVER), 'webhook-timestamp': AT }],
    ['a time that is over, and another for Svix', 401, 'standard', { ...standard(...OVER), 'svix-timestamp': AT }],
    ['a secret with the version in front', 200, 'versioned', standard()],
    ['another body', 401, 'standard', standard(), '{"test": 1}'],
    ['no headers', 401, 'standard', {}],
    ['five minutes old', 200, 'standard', signed(BODY, String(Number(AT) - 300))],
    ['older than five minutes', 401, 'standard', signed(BODY, String(Number(AT) - 301))],
    ['of the future', 401, 'standard', signed(BODY, String(Number(AT) + 301))],
    ['no time', 401, 'standard', signed(BODY, 'now')],
    ['Sentry: the hex digest', 200, 'sentry', { 'sentry-hook-signature': hexOf('current') }],
    ['Sentry: in uppercase', 200, 'sentry', { 'sentry-hook-signature': hexOf('current').toUpperCase() }],
    ['Sentry: under the secret before', 200, 'sentry', { 'sentry-hook-signature': hexOf('previous') }],
    ['Sentry: under a third secret', 401, 'sentry', { 'sentry-hook-signature': hexOf('another') }],
    ['Sentry: cut', 401, 'sentry', { 'sentry-hook-signature': hexOf('current').slice(1) }],
    [
      'PagerDuty: a list',
      200,
      'pagerduty',
      { 'x-pagerduty-signature': `v1=${hexOf('x')},v1=${hexOf('of pagerduty')}` },
    ],
    ['PagerDuty: without the version', 401, 'pagerduty', { 'x-pagerduty-signature': hexOf('of pagerduty') }],
    ['the published example of GitHub', 200, 'github', { 'x-hub-signature-256': OF_GITHUB }, 'Hello, World!'],
    ['Shopify: Base64', 200, 'shopify', { 'x-shopify-hmac-sha256': digest('base64', 'hush', BODY) }],
    ['a signed time', 200, 'timed', timed(AT)],
    ['a time that is not signed', 401, 'timed', { 'x-timestamp': AT, 'x-signature': hexOf('of timed') }],
    ['a signed time that is over', 401, 'timed', timed('1614265000')],
    ['parts and headers', 200, 'parts', ONE],
    ['parts, the first of two', 401, 'parts', { ...ONE, 'x-parts': `t=1,${ONE['x-parts']}` }],
    ['parts, with an empty time that is signed so', 401, 'parts', inParts('', 'one')],
    ['parts, with an empty header that is signed so', 401, 'parts', inParts(AT, '')],
    ['parts, with an empty part that is signed so', 401, 'parts', inParts(AT, 'one', '')],
    ['parts, with more in the time', 401, 'parts', inParts(`${AT}.7`, 'x', 'one', `${AT}.7.one.x.${BODY}`)],
    ['parts, with a time that is over', 401, 'parts', inParts(String(Number(AT) - 301), 'one')],
    ['another hash, with a key in Base64', 200, 'encoded', { 'x-signature': sha512(Buffer.from(KEY, 'base64')) }],
    ['another hash, with the key as a text', 401, 'encoded', { 'x-signature': sha512(KEY) }],
    ['GitLab: the token', 200, 'gitlab', { 'x-gitlab-token': 'of gitlab' }],
    ['GitLab: another token', 401, 'gitlab', { 'x-gitlab-token': 'of gitlaB' }],
    ['GitLab: no token', 401, 'gitlab', {}],
  ])('%s: %d', async (_, status, name, headers, body) => {
    expect((await post(name, headers, body)).status).toBe(status);
    if (status === 401) expect(seen).toEqual([]);
  });
});

it.each<[Name, number, Record<string, string>]>([
  ['prefix', 503, standard(v1(''))],
  ['placeholder', 503, standard(v1(''))],
  ['blank', 503, { 'x-signature': hexOf(' ') }],
  // The secret is short, but a sender that was accepted before still is.
  ['weak', 200, standard(v1(Buffer.from('geheim', 'base64')))],
])(
  'a secret that gives no key proves nothing, and a short one is used: %s is answered with %d',
  async (name, status, headers) => {
    expect((await post(name, headers)).status).toBe(status);
  },
);

it.each([
  ['standard', `whsec_${KEY}`, undefined],
  ['standard', Buffer.alloc(65).toString('base64'), { isUsable: true }],
  ['standard', `v1,whsec_${KEY}`, undefined],
  ['standard', 'v1,whsec_', { isUsable: false }],
  ['standard', 'geheim', { isUsable: true }],
  ['standard', 'whsec_', { isUsable: false }],
  ['standard', 'no Base64!', { isUsable: false }],
  ['gitlab', 'x'.repeat(16), undefined],
  ['gitlab', 'x', { isUsable: true }],
  ['sentry', '\t', { isUsable: false }],
  ['encoded', 'no Base64!', { isUsable: false, what: 'expected Base64 of the key' }],
] as const)('a secret is checked for its use: %s, %j', (name, secret, fault) => {
  const found = secretFault(own[name].on.verify, secret);
  if (fault) expect(found).toMatchObject(fault);
  else expect(found).toBeUndefined();
  if (found) expect(found.what).not.toContain(secret);
});

describe('a verified request', () => {
  const send = (body: string) => post('standard', signed(body), body);

  it('makes one job, with its webhook as the cause, and the job runs', async () => {
    expect(await send('{"test": 7}')).toMatchObject({ status: 200, answer: { repeat: false } });
    expect(await send('{"test": 7}')).toMatchObject({ status: 200, answer: { repeat: true } });
    await relay.workToTheEnd();
    const [job] = (await relay.jobs('succeeded')).filter(({ input }) => (input as { test: number }).test === 7);
    expect(job).toMatchObject({
      automation: 'standard',
      outcome: 'done',
      connection: 'main',
      cause: { from: 'webhook', id: 'standard' },
    });
  });

  it('is read after a byte order mark, which is signed with it', async () => {
    expect(await send('\ufeff{"test": 9}')).toMatchObject({ status: 200, answer: { repeat: false } });
    expect(seen).toEqual([{ test: 9 }]);
  });

  it.each([
    ['is not JSON', 'no JSON', /not JSON/],
    ['does not match', '{"test": "7"}', /does not match `body` in automations\/[\w-]+\.ts; it differs in: test/],
    ['is deep', '['.repeat(200_000) + ']'.repeat(200_000), /does not match `body` in .*: the whole/],
    ['needs no job', '{"test": 0}', /a zero needs nothing/],
  ])('that %s is answered with the reason', async (_, body, reason) => {
    const { status, answer } = await send(body);
    expect(status).toBe(200);
    expect(answer).toEqual({ jobs: [], ignored: expect.stringMatching(reason) });
  });

  it('on which the file fails is answered with 500, logged and counted', async () => {
    relay.log.length = 0;
    expect((await send('{"test": 8, "fails": "of the team"}')).status).toBe(500);
    expect(relay.log).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining('automations/standard.ts'),
        // The message of the thrown error may contain the payload.
        error: expect.stringMatching(/^Error at automations\/standard\.ts$/),
      }),
    );
    expect(relay.metrics).toContainEqual(expect.objectContaining({ OwnAutomationsFailed: 1 }));
  });
});

it('a body with thousands of mistakes leads to at most five named fields, without their outside names', async () => {
  const people = Array.from({ length: 20_000 }, (_, of) => [`patient-${of}@example.org`, of % 2 ? {} : { id: 'x' }]);
  relay.log.length = 0;
  const body = JSON.stringify(Object.fromEntries(people));
  const { status, answer } = await post('records', { 'x-token': 'of records' }, body);
  const reason = 'the request does not match `body` in automations/records.ts; it differs in: ….id, ….test';
  expect([status, answer]).toEqual([200, { jobs: [], ignored: reason }]);
  expect(relay.log).toContainEqual(expect.objectContaining({ message: 'request ignored', reason }));
});

const NOT_KEPT = ', which is not kept';
const ofRecord = (name: string) => `input.all.labels is a record with the name '${name}'${NOT_KEPT}`;
it.each<['kept' | 'large', string, string]>([
  ['large', JSON.stringify({ text: 'x'.repeat(9_000) }), 'the input of a job has 9011 bytes; 8192 is the most'],
  ['kept', '{"labels": {"constructor": "x"}}', ofRecord('constructor')],
  ['kept', '{"labels": {"constructor": {"name": "Set"}}}', ofRecord('constructor')],
  ['kept', '{"labels": {"__proto__": {"admin": true}}}', ofRecord('__proto__')],
  ['kept', '{"labels": {"": "x"}}', ofRecord('')],
  ['kept', '[1e200]', `input.all.0 is a number beyond 2^53${NOT_KEPT}`],
  ['kept', '[1e999]', `input.all.0 is a Infinity${NOT_KEPT}`],
  ['kept', '["\\ud800"]', `input.all.0 is a text that is cut within a character${NOT_KEPT}`],
  ['kept', `${'['.repeat(30)}1${']'.repeat(30)}`, `is a value of more than 20 levels${NOT_KEPT}`],
])(
  'a job that is too large for the table is answered with the reason, and counted: %s, %.60s',
  async (name, body, reason) => {
    relay.metrics.length = 0;
    expect(await post(name, { 'x-token': `of ${name}` }, body)).toEqual({
      status: 200,
      answer: { jobs: [], ignored: expect.stringContaining(reason) },
    });
    expect(relay.metrics).toContainEqual(expect.objectContaining({ OwnAutomationsFailed: 1 }));
  },
);

it('the file gets the headers that it names, and no others', async () => {
  await post('told', { 'x-token': 'of told', 'X-Event-Key': 'repo:push', 'x-more': 'secret' });
  await relay.workToTheEnd();
  const [job] = (await relay.jobs('succeeded')).filter(({ automation }) => automation === 'told');
  expect(job?.input).toEqual({ event: 'repo:push' });
});

it.each([
  ['{"challenge": "3eZbrw1aBm2r"}', 200, { challenge: '3eZbrw1aBm2r' }],
  ['{"challenge": 1}', 503, undefined],
  ['{"challenge": {"toString": 1}}', 503, undefined],
  ['{}', 503, undefined],
  ['null', 503, undefined],
  ['no JSON', 503, undefined],
  [JSON.stringify({ challenge: 'x'.repeat(5_000) }), 503, undefined],
])(
  'before it has a secret, a webhook answers its challenge and nothing else: %.40s is %d',
  async (body, status, answer) => {
    const said = await post('asked', {}, body);
    expect(said.status).toBe(status);
    if (answer) expect(said.answer).toEqual(answer);
  },
);

it('an unknown name is 404', async () => {
  expect((await post('unknown', signed(BODY))).status).toBe(404);
});

it.each(['forgotten', 'constructor'])(
  'the webhook %s without a secret is 503, with what to do in the log',
  async (name) => {
    relay.log.length = 0;
    expect((await post(name, signed(BODY))).status).toBe(503);
    expect(relay.log).toContainEqual(
      expect.objectContaining({ reason: expect.stringContaining(`npx partner-relay secrets set hooks/${name}`) }),
    );
  },
);
