import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLoggedChanges } from '../../console/log-changes.ts';
import { parkingInWords } from '../../lib/engine/record/in-plain-words.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { consoleOf, type TestConsole, TOKEN } from './console-of.ts';

let relay: TestRelay;
let operating: TestConsole;
let reading: TestConsole;

beforeAll(async () => {
  relay = await startRelay();
  operating = await consoleOf(relay);
  reading = await consoleOf(relay, { operate: false, changes: createLoggedChanges() });
});

afterAll(async () => {
  await Promise.all([operating.close(), reading.close()]);
});

const json = { 'content-type': 'application/json' };

/** The headers of the console's own page. */
function own({ url }: TestConsole, without: string[] = []): Record<string, string> {
  const all = { authorization: `Bearer ${TOKEN}`, origin: url, ...json };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)));
}

describe("a request that does not come from this console's page", () => {
  const cases: [string, number, string, string, (own: Record<string, string>) => Record<string, string>][] = [
    ['no token', 401, 'GET', '/api/relay', ({ authorization, ...rest }) => rest],
    ['another token', 401, 'GET', '/api/relay', (own) => ({ ...own, authorization: 'Bearer another' })],
    ['the token without its scheme', 401, 'GET', '/api/relay', (own) => ({ ...own, authorization: TOKEN })],
    ['no token, for the changes', 401, 'GET', '/api/changes', ({ authorization, ...rest }) => rest],
    ['a name that points to this machine', 421, 'GET', '/api/relay', (own) => ({ ...own, host: 'attacker.example' })],
    ['that name, for the page', 421, 'GET', '/', (own) => ({ ...own, host: 'attacker.example' })],
    ['the name with another port', 421, 'GET', '/api/relay', (own) => ({ ...own, host: '127.0.0.1:1' })],
    ['the origin of another page', 403, 'POST', '/api/jobs', (own) => ({ ...own, origin: 'https://attacker.example' })],
    ['a page of another port', 403, 'POST', '/api/jobs', (own) => ({ ...own, origin: 'http://127.0.0.1:1' })],
    ['an opaque origin', 403, 'POST', '/api/jobs', (own) => ({ ...own, origin: 'null' })],
    ['a change without an origin', 403, 'POST', '/api/jobs', ({ origin, ...rest }) => rest],
    ['a reading by another page', 403, 'GET', '/api/jobs', (own) => ({ ...own, origin: 'https://attacker.example' })],
    ['a form', 415, 'POST', '/api/jobs', (own) => ({ ...own, 'content-type': 'application/x-www-form-urlencoded' })],
    ['text', 415, 'POST', '/api/jobs', (own) => ({ ...own, 'content-type': 'text/plain' })],
    ['no content type', 415, 'POST', '/api/jobs', ({ 'content-type': _, ...rest }) => rest],
    ['another method', 405, 'DELETE', '/api/jobs', (own) => own],
    ['a preflight', 405, 'OPTIONS', '/api/jobs', (own) => own],
    ['a change of what can only be read', 405, 'POST', '/api/now', (own) => own],
    ['a change of the stream', 405, 'POST', '/api/changes', (own) => own],
    ['a change of a page', 405, 'POST', '/', (own) => own],
    ['an unknown path', 404, 'GET', '/api/unknown', (own) => own],
    ['an unknown page', 404, 'GET', '/unknown', (own) => own],
    ['an invalid address', 400, 'GET', '//', (own) => own],
    ['an unknown page of the documentation', 404, 'GET', '/docs/unknown.md', (own) => own],
    ['a path out of the documentation', 404, 'GET', '/docs/..%2Fpackage.json', (own) => own],
    ['a path out of the pages', 404, 'GET', '/../package.json', (own) => own],
  ];

  it.each(cases)('%s: %i', async (_, status, method, path, headersFrom) => {
    const answer = await operating.raw(method, path, headersFrom(own(operating)), method === 'POST' ? '{}' : undefined);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) });
    expect(answer.body).not.toContain(TOKEN);
    expect(operating.failures).toEqual([]);
  });

  it('the same by the name localhost is answered', async () => {
    const host = `localhost:${operating.port}`;
    const answer = await operating.raw('GET', '/api/relay', { ...own(operating), host, origin: `http://${host}` });
    expect(answer.status).toBe(200);
  });
});

const cursor = (wakeAt: number) =>
  Buffer.from(JSON.stringify([{ status: 'parked', after: { id: 'x', wakeAt } }])).toString('base64url');

it.each([
  ['an invalid cursor', '/api/jobs?cursor=x'],
  ['a cursor of no time', `/api/jobs?cursor=${cursor(1e300)}`],
  ['an invalid time', '/api/jobs?since=yesterday'],
  ['an unknown status', '/api/jobs?status=lost'],
  ['a text that is too long', `/api/jobs?text=${'x'.repeat(300)}`],
  ['an issue that is too long', `/api/links?find=issue-${'9'.repeat(3_000)}`],
])('%s is refused as the operator’s mistake', async (_, path) => {
  expect(await operating.raw('GET', path, own(operating))).toMatchObject({ status: 400 });
  expect(operating.failures).toEqual([]);
});

describe('a body', () => {
  const FOR_TWO = '{"do":"done","createdId":"1","ids":["one","two"]}';
  const NO_DECISION = /this is not a decision about jobs/;
  it.each<[string, string, string, RegExp]>([
    ['larger than any change', '/api/try', `"${'x'.repeat(300 * 1024)}"`, /^/],
    ['not JSON', '/api/try', '{', /^/],
    ['an action that does not exist', '/api/try', '{"do":"delete"}', /^/],
    ['an operation that does not exist', '/api/operate', '{"do":"explode"}', /this is not an action/],
    ['a link without an issue', '/api/operate', '{"do":"clear link","issue":" "}', /this is not an action/],
    ['a decision that does not exist', '/api/jobs', '{"do":"delete","ids":["one"]}', NO_DECISION],
    ['no job', '/api/jobs', '{"do":"replay","ids":[]}', NO_DECISION],
    ['too many jobs', '/api/jobs', JSON.stringify({ do: 'replay', ids: Array(101).fill('one') }), NO_DECISION],
    ['one created id for two jobs', '/api/jobs', FOR_TWO, /each on its own/],
    ['a discard without a reason', '/api/jobs', '{"do":"discard","reason":" ","ids":["one"]}', NO_DECISION],
  ])('with %s is refused by %s', async (what, path, body, error) => {
    const answer = await operating.raw('POST', path, own(operating), body);
    expect(answer.status).toBe(what === 'larger than any change' ? 413 : 400);
    expect(JSON.parse(answer.body)).toEqual({ error: expect.stringMatching(error) });
  });
});

describe('every answer', () => {
  it.each(['/', '/console.js', '/docs/stuck.md', '/docs/images/terminal.webp', '/api/relay', '/api/unknown'])(
    '%s has strict headers',
    async (path) => {
      const { headers } = await operating.raw('GET', path, own(operating));
      const policy = String(headers['content-security-policy']).split('; ');
      for (const closed of ['default-src', 'base-uri', 'form-action', 'frame-ancestors'])
        expect(policy).toContain(`${closed} 'none'`);
      for (const own of ['script-src', 'style-src', 'connect-src']) expect(policy).toContain(`${own} 'self'`);
      expect(policy.join()).not.toMatch(/unsafe|data:|https?:|\*/);
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    },
  );

  it('the documentation has the sections that jobs name', async () => {
    const { body } = await operating.raw('GET', '/docs/stuck.md');
    for (const { docs } of Object.values(parkingInWords)) expect(body).toContain(`id="${docs.split('#')[1]}"`);
  });

  it('a page needs no token, is small, and is sent once', async () => {
    const first = await operating.raw('GET', '/console.js');
    expect(first.status).toBe(200);
    expect(first.body).not.toContain(TOKEN);
    const again = await operating.raw('GET', '/console.js', { 'if-none-match': String(first.headers.etag) });
    expect([again.status, again.body]).toEqual([304, '']);
  });
});

describe('a read-only console', () => {
  it.each(['/api/jobs', '/api/jobs/issue-to-defect-0123456789abcdef0123', '/api/operate', '/api/try'])(
    '%s refuses a change, whatever the page says',
    async (path) => {
      const { status, answer } = await reading.post(path, { do: 'replay', ids: ['one'] });
      expect([status, answer]).toEqual([403, { error: expect.stringContaining('read-only') }]);
    },
  );

  it('says that it is read-only', async () => {
    expect(await reading.get('/api/relay')).toMatchObject({ operate: false });
    expect(await operating.get('/api/relay')).toMatchObject({ operate: true, operator: 'mira', connections: ['main'] });
  });
});

describe('an error of AWS', () => {
  it.each([
    ['ExpiredTokenException', 'The security token is expired', /Sign in to AWS again/],
    ['AccessDeniedException', 'User is not authorized to perform: dynamodb:Query', /ConsoleReadPolicyArn/],
  ])('%s says what the operator can do', async (name, message, words) => {
    const list = () => Promise.reject(Object.assign(new Error(message), { name }));
    const broken = await consoleOf(relay, { stores: { ...relay.stores, jobs: { ...relay.stores.jobs, list } } });
    const { status, body } = await broken.raw('GET', '/api/parked', own(broken));
    expect([status, JSON.parse(body).error]).toEqual([502, expect.stringMatching(words)]);
    expect(body).toContain(message);
    expect(broken.failures).toEqual([]);
    await broken.close();
  });
});
