import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_BODY_BYTES } from '../../lib/state/http/function-url.ts';
import { functionsOf } from '../../local/world/functions.ts';
import { githubExamples, issueEvent } from '../issue-events.ts';
import { githubSignature, startRelay, type TestRelay, WEBHOOK_SECRET } from '../relay.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

/** Delivers these bytes, signed unless a signature is given. */
const deliver = (body: string, signature = githubSignature(body), contentType = 'application/json') =>
  relay.postRaw(body, {
    'content-type': contentType,
    'x-github-event': 'issues',
    'x-github-delivery': '1',
    'x-hub-signature-256': signature,
  });
const FORM = 'application/x-www-form-urlencoded';

const itemsInTable = async () =>
  (await new DynamoDBClient({}).send(new ScanCommand({ TableName: relay.runtime.environment.TABLE_NAME }))).Count;

describe('the signature', () => {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
  const published = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

  it.each([
    ['the published example', published, 400],
    ['one digit changed', published.replace('757', '758'), 401],
    ['uppercase', published.toUpperCase(), 401],
    ['cut', published.slice(0, -2), 401],
    ['without its prefix', published.slice(7), 401],
    ['SHA-1 instead', published.replace('sha256', 'sha1'), 401],
    ['empty', '', 401],
  ])('the signature is checked before the body is parsed: %s', async (_, signature, status) => {
    expect((await deliver('Hello, World!', signature)).status).toBe(status);
  });

  it('the signature covers the raw bytes in any encoding', async () => {
    const body = JSON.stringify(issueEvent('opened', { title: 'Zażółć 🦆' }));
    const form = `payload=${encodeURIComponent(body).replaceAll('%20', '+')}`;
    expect((await deliver(form, undefined, FORM)).status).toBe(202);
    const [job] = await relay.jobs();
    expect(job?.summary).toBe('Codertocat/Hello-World#1 opened: Zażółć 🦆');
  });

  it('the previous webhook secret is valid for a day after a rotation', async () => {
    const signed = (secret: string, seconds: number) => {
      const payload = issueEvent('opened', { seconds });
      return relay.post('issues', payload, { 'x-hub-signature-256': githubSignature(JSON.stringify(payload), secret) });
    };
    expect((await signed(WEBHOOK_SECRET, 1)).status).toBe(202);
    relay.clock.now += 61_000;
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github-webhook`, { webhookSecret: 'the next one' });
    expect((await signed('the next one', 2)).status).toBe(202);
    expect((await signed(WEBHOOK_SECRET, 3)).status).toBe(202);
    relay.clock.now += 24 * 3_600_000 + 1;
    expect((await signed(WEBHOOK_SECRET, 4)).status).toBe(401);
    expect((await signed('the next one', 5)).status).toBe(202);
  });

  it('invalid signatures cause the secret to be read at most once a minute', async () => {
    const refused = () => relay.post('issues', {}, { 'x-hub-signature-256': 'sha256=00' });
    expect((await refused()).status).toBe(401);
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github-webhook`, { webhookSecret: 'the next one' });
    const payload = issueEvent('opened');
    const headers = { 'x-hub-signature-256': githubSignature(JSON.stringify(payload), 'the next one') };
    expect((await relay.post('issues', payload, headers)).status).toBe(401);
    relay.clock.now += 60_000;
    expect((await relay.post('issues', payload, headers)).status).toBe(202);
  });
});

it.each<[string, (json: string) => string, string?]>([
  ['JSON', (json) => json],
  ['a form', (json) => `payload=${encodeURIComponent(json)}`, FORM],
])('a payload is read after a byte order mark: %s', async (_, bodyOf, contentType) => {
  const answered = await deliver(bodyOf(`\ufeff${JSON.stringify(issueEvent('opened'))}`), undefined, contentType);
  expect(answered).toEqual({ status: 202, answer: { jobs: [expect.any(String)], repeat: false } });
});

describe('an unusable request', () => {
  it.each([
    ['no signature', { 'x-hub-signature-256': undefined }, 401, /X-Hub-Signature-256 is missing/],
    ['no event header', { 'x-github-event': undefined }, 400, /X-GitHub-Event is missing/],
    ['no delivery header', { 'x-github-delivery': undefined }, 400, /X-GitHub-Delivery is missing/],
  ])('%s', async (_, headers, status, reason) => {
    const answered = await relay.post('issues', issueEvent('opened'), headers);
    expect(answered).toEqual({ status, answer: { error: expect.stringMatching(reason) } });
    expect(await itemsInTable()).toBe(0);
  });

  it.each<[string, string, number, RegExp, string?]>([
    ['broken JSON', '{"action":', 400, /not JSON/],
    ['JSON that is no object', '[]', 400, /not a JSON object/],
    ['a form without payload', 'a=b', 400, /no field "payload"/, FORM],
    ['no fields', '{"repository":{"full_name":"Codertocat/Hello-World"}}', 400, /action: .*issue: /],
    ['a body above 6 MB', ' '.repeat(MAX_BODY_BYTES + 1), 413, /larger/],
  ])('%s', async (_, body, status, reason, contentType) => {
    const answered = await deliver(body, undefined, contentType);
    expect(answered).toEqual({ status, answer: { error: expect.stringMatching(reason) } });
    expect(await itemsInTable()).toBe(0);
  });
});

const ignored = (why: string) => ({ jobs: [], ignored: expect.stringContaining(why) });
it.each([
  ['ping', { zen: 'Keep it logically awesome.' }, 200, { pong: expect.any(String) }],
  ['push', {}, 202, { jobs: [], ignored: 'no automation handles push events' }],
  ['issues', issueEvent('pinned'), 202, ignored('pinned')],
  ['issues', issueEvent('deleted'), 202, ignored('deleted')],
  ['issues', issueEvent('locked'), 202, ignored('locking')],
  ['issues', issueEvent('opened', { labels: [] }), 202, ignored('label bug')],
  ['issues', issueEvent('opened', { repository: 'a/b' }), 202, ignored('a/b is not in relay.config.ts')],
])('an ignored event is answered with the reason and writes nothing: %s', async (event, payload, status, answer) => {
  expect(await relay.post(event, payload)).toEqual({ status, answer });
  expect(await itemsInTable()).toBe(0);
});

describe('deliveries that are repeated, or cannot be stored', () => {
  it('a repeated event is answered 200 with the same job, from any hook or delivery', async () => {
    const first = await relay.post('issues', issueEvent('opened'));
    expect(first).toEqual({ status: 202, answer: { jobs: [expect.any(String)], repeat: false } });
    const again = await relay.post('issues', issueEvent('opened', { extra: { organization: { login: 'acme' } } }));
    expect(again).toEqual({ status: 200, answer: { jobs: first.answer.jobs, repeat: true } });
    await relay.work();
    expect((await relay.post('issues', issueEvent('opened'))).status).toBe(200);
    expect(await relay.jobs()).toHaveLength(1);
  });

  it('a job that cannot be stored is answered 500', async () => {
    relay = await startRelay({ environment: { TABLE_NAME: 'no-such-table' } });
    const answered = await relay.post('issues', issueEvent('opened'));
    expect(answered).toEqual({ status: 500, answer: { error: expect.stringContaining('deliver it again') } });
  });

  it('a repeated event queues a job that was stored but not queued', async () => {
    relay = await startRelay({ environment: { BACKGROUND_QUEUE_URL: 'http://aws.invalid/nowhere/background.fifo' } });
    expect((await relay.post('issues', issueEvent('opened'))).status).toBe(500);
    const [stored] = await relay.jobs('queued');
    expect(stored).toMatchObject({ generation: 1 });
    Object.assign(relay.runtime.environment, relay.stack.variables);
    const body = JSON.stringify(issueEvent('opened'));
    const headers = {
      'x-github-event': 'issues',
      'x-github-delivery': '1',
      'x-hub-signature-256': githubSignature(body),
    };
    const answered = await takeAfresh(headers, body);
    expect(answered).toMatchObject({ statusCode: 200 });
    await relay.work();
    expect(await relay.jobs('succeeded')).toMatchObject([{ id: stored?.id }]);
  });

  it.each([
    ['missing', undefined, /does not exist/],
    ['without its field', { token: 'ghp_canary' }, /github-webhook has missing or invalid fields: webhookSecret/],
  ])('the log says which secret is unusable, but not its content: %s', async (_, secret, reason) => {
    if (secret) relay.stack.secrets.put(`${relay.stack.secretPrefix}github-webhook`, secret);
    else relay.stack.secrets.remove(`${relay.stack.secretPrefix}github-webhook`);
    const answered = await takeAfresh({ 'x-hub-signature-256': 'sha256=00' }, '{}');
    expect(answered).toMatchObject({ statusCode: 500 });
    expect(relay.log).toContainEqual(expect.objectContaining({ error: expect.stringMatching(reason) }));
    expect(JSON.stringify(relay.log)).not.toContain('ghp_canary');
  });

  it.each([
    ['missing', undefined],
    ['empty', {}],
    ['malformed', { webhookSecret: 7 }],
  ])('a secret that is %s is read once for many forged requests, and again five seconds later', async (_, secret) => {
    const name = `${relay.stack.secretPrefix}github-webhook`;
    if (secret) relay.stack.secrets.put(name, secret);
    else relay.stack.secrets.remove(name);
    const reads = vi.spyOn(relay.stack.secrets, 'get');
    for (let forged = 0; forged < 5; forged++) {
      expect((await relay.post('issues', {}, { 'x-hub-signature-256': 'sha256=00' })).status).toBe(500);
    }
    expect(reads).toHaveBeenCalledTimes(1);

    relay.stack.secrets.put(name, { webhookSecret: WEBHOOK_SECRET });
    relay.clock.now += 5_000;
    expect((await relay.post('issues', issueEvent('opened'))).status).toBe(202);
  });
});

it('every published example gets a 2xx, and every bug issue one defect', async () => {
  relay.clock.now = Date.parse('2019-05-16T12:00:00Z');
  const before = relay.sandbox.data.defects.length;
  const taken: string[] = [];
  for (const { name, examples } of githubExamples) {
    const isOfIssues = name === 'issues';
    const chosen = isOfIssues ? examples.toSorted((a, b) => updatedAt(a) - updatedAt(b)) : examples.slice(0, 1);
    for (const example of chosen) {
      // GitHub sends no event from the future.
      if (isOfIssues) relay.clock.now = Math.max(relay.clock.now, updatedAt(example));
      const { status, answer } = await relay.post(name, example);
      expect(status, `${name} ${example.action}`).toBeOneOf([200, 202]);
      if (Array.isArray(answer.jobs) && answer.jobs.length > 0) taken.push(`${example.action}`);
      await relay.work();
    }
  }
  expect(new Set(taken)).toEqual(new Set(['opened', 'labeled', 'edited', 'unlabeled', 'reopened']));
  // All examples are about two issues of one repository, and only the first has a label that makes a defect.
  expect(await relay.jobs('parked')).toEqual([]);
  const made = relay.sandbox.data.defects.slice(before);
  expect(made).toHaveLength(1);
  expect(made[0]).toMatchObject({ title: 'Spelling error in the README file' });
});

const updatedAt = (example: object) => Date.parse((example as { issue: { updated_at: string } }).issue.updated_at);

/** Handles a request in a new process. */
const takeAfresh = (headers: Record<string, string>, body: string) =>
  functionsOf(() => relay.runtime).take({ url: '/github', headers, body });
