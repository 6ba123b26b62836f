import { describe, expect, it } from 'vitest';
import { createPartnerClient } from '../../../lib/service/partner/client.ts';
import { validate, withOverride } from '../../../lib/service/partner/operation.ts';
import { listDefects, updateDefect } from '../../../lib/service/partner/operations/defects.ts';
import { listProjects } from '../../../lib/service/partner/operations/projects.ts';
import { listUsers } from '../../../lib/service/partner/operations/users.ts';
import { type KnownPaging, pages, rowsOf } from '../../../lib/service/partner/pages.ts';
import { decryptPayload } from '../../../sandbox/decryption.ts';
import { defaultKey } from '../../../sandbox/sandbox.ts';
import { type Answering, failureOf, noon, reply, sandboxAndClient, serverAndClient } from './client-at-noon.ts';

const done = reply(200, { success: true, message: 'OK', data: {} });

const NO_KEYS = ['', 'pk_', 'sk_example', 'pk_line\n', 'pk_two words', 'pk_schlüssel', 'pk_✓'];
it.each(NO_KEYS)('a client is refused with the API key %j', (apiKey) => {
  const create = () => createPartnerClient({ baseUrl: 'https://pm.example.com', apiKey, secretKey: 'sk_example' });
  expect(create).toThrow(/^API key: expected a key that begins with pk_, of ASCII characters without spaces$/);
});

describe('a request', () => {
  it('a request is sent as it was signed', async () => {
    const { url, client, received } = await serverAndClient(done);
    const request = client.sign(updateDefect, { defect_id: 7, title: 'Größe 🛒' });
    await client.send(updateDefect, request);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      path: '/api/v1/partner/defects/update',
      body: request.body,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'x-api-key': defaultKey.apiKey,
        'x-timestamp': String(noon / 1000),
        'x-nonce': request.headers['x-nonce'],
        'x-signature': expect.stringMatching(/^[\da-f]{64}$/),
      },
    });
    expect(Object.keys(JSON.parse(request.body))).toEqual(['encrypted_data']);
    expect(request).toMatchObject({ url: `${url}/api/v1/partner/defects/update`, signedAt: noon });
  });

  it('each request has its own nonce and initialization vector', async () => {
    const { client } = await sandboxAndClient();
    const requests = Array.from({ length: 20 }, () => client.sign(validate, { same: true }));
    const nonces = requests.map(({ headers }) => headers['x-nonce'] ?? '');
    const vectors = requests.map(({ body }) => JSON.parse(body).encrypted_data.slice(0, 20));
    expect(new Set(nonces).size).toBe(20);
    expect(new Set(vectors).size).toBe(20);
    expect(nonces.every((nonce) => nonce.length >= 8)).toBe(true);
  });

  it.each<[string, Answering]>([
    ['a result', done],
    ['a refusal', reply(401, { success: false, message: 'Invalid signature', data: null })],
    ['a page', reply(503, '<!doctype html><h1>Down for maintenance</h1>')],
    ['a redirect', reply(302, '<!doctype html>', { location: '/login' })],
  ])('a request reuses the connection of the one before it, which returned %s', async (_, answer) => {
    const { client, received, connections } = await serverAndClient(answer);
    for (let call = 0; call < 5; call++) {
      await client.call(validate, { call }).catch(() => {});
      // Within one turn, fetch delivers the last byte of an answer before it marks the connection as free.
      await new Promise(setImmediate);
    }
    expect([received.length, connections()]).toEqual([5, 1]);
  });
});

const minuteMs = 60_000;
const outside = { success: false, message: 'Timestamp outside window', data: null };
const ahead = { date: new Date(noon + 20 * minuteMs).toUTCString() };

describe("a service whose clock differs from the client's", () => {
  it.each([
    ['20 minutes ahead', 20 * minuteMs, 1200],
    ['20 minutes behind', -20 * minuteMs, -1200],
    ['a day ahead', 24 * 60 * minuteMs, 86_400],
  ])('by %s refuses once, and accepts what is signed next', async (_, differenceMs, clockOffsetSeconds) => {
    const { sandbox, client, clocks } = await sandboxAndClient();
    clocks.sandbox += differenceMs;
    const refusal = { status: 401, reason: 'timestamp outside window', clockOffsetSeconds };
    expect(await failureOf(client.call(validate, {}))).toMatchObject(refusal);
    expect(sandbox.requests).toBe(1);
    expect((await client.call(validate, { second: true })).data).toEqual({ second: true });
    clocks.client += minuteMs;
    clocks.sandbox += minuteMs;
    expect((await client.call(validate, { third: true })).data).toEqual({ third: true });
    expect(sandbox.requests).toBe(3);
  });

  it('the client follows a service clock that is corrected', async () => {
    const { client, clocks } = await sandboxAndClient();
    clocks.sandbox += 20 * minuteMs;
    await failureOf(client.call(validate, {}));
    await client.call(validate, {});
    clocks.sandbox -= 20 * minuteMs;
    expect(await failureOf(client.call(validate, {}))).toMatchObject({ clockOffsetSeconds: 0 });
    expect((await client.call(validate, {})).status).toBe(200);
  });

  it('the offset changes the timestamp, but not the signing time', async () => {
    const { client } = await serverAndClient(reply(401, outside, ahead));
    await failureOf(client.call(validate, {}));
    const { headers, signedAt } = client.sign(validate, {});
    expect(headers['x-timestamp']).toBe(String(noon / 1000 + 1200));
    expect(signedAt).toBe(noon);
  });

  const withoutDate: Answering = (_, response) => {
    response.sendDate = false;
    response.writeHead(401).end(JSON.stringify(outside));
  };
  const refused = (status: number) => ({ name: 'PartnerRefusal', status, clockOffsetSeconds: null });
  it.each<[string, object, Answering]>([
    ['it refuses for another reason', refused(401), reply(401, { ...outside, message: 'Invalid signature' }, ahead)],
    ['it refuses with another status', refused(422), reply(422, outside, ahead)],
    ['it carries out the call', { status: 200 }, reply(200, { success: true, message: 'OK', data: {} }, ahead)],
    ['its Date is no date', refused(401), reply(401, outside, { date: 'today' })],
    ['it sends no Date', refused(401), withoutDate],
  ])('the offset changes no timestamp if %s', async (_, ends, answer) => {
    const { client, received } = await serverAndClient(answer);
    expect(await client.call(validate, {}).catch((error) => error)).toMatchObject(ends);
    expect(received).toHaveLength(1);
    expect(client.sign(validate, {}).headers['x-timestamp']).toBe(String(noon / 1000));
  });
});

it.each<[string, Buffer, string?]>([
  ['with a byte order mark', Buffer.from('\ufeff{"success":true,"data":["Zoë"]}')],
  ['in Latin-1', Buffer.from('{"success":true,"data":["Zoë"]}', 'latin1'), 'application/json; charset=ISO-8859-1'],
  ['in UTF-8 that says Latin-1', Buffer.from('{"success":true,"data":["Zoë"]}'), 'application/json;charset="latin1"'],
  ['in UTF-8 that says nonsense', Buffer.from('{"success":true,"data":["Zoë"]}'), 'application/json; charset=x'],
  ['in UTF-16', Buffer.from('\ufeff{"success":true,"data":["Zoë"]}', 'utf16le'), 'application/json; charset=utf-16le'],
])('an answer %s is read', async (_, body, type = 'application/json') => {
  const answer: Answering = (_, response) => response.writeHead(200, { 'content-type': type }).end(body);
  const { client } = await serverAndClient(answer);
  expect((await client.call(validate, {})).data).toEqual(['Zoë']);
});

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const page of list) read.push(page);
  return read;
}

async function sizes(list: AsyncIterable<{ data: readonly unknown[] }>): Promise<number[]> {
  return (await all(list)).map(({ data }) => data.length);
}

describe('the pages of a list', () => {
  it.each([
    [1, undefined, [1, 1, 1, 1, 1]],
    [2, undefined, [2, 2, 1]],
    [5, undefined, [5]],
    [20, undefined, [5]],
    [2, 2, [2, 2]],
    [2, 1, [2]],
    [2, 9, [2, 2, 1]],
    [2, 0, []],
  ])('of 5 users, %i on each and at most %s, have %o', async (per_page, maxPages, expected) => {
    const { sandbox, client } = await sandboxAndClient();
    const read = await all(pages(client.call, listUsers, { per_page }, maxPages));
    expect(read.map(({ data }) => data.length)).toEqual(expected);
    expect(read.flatMap(({ data }) => data)).toEqual(sandbox.data.users.slice(0, read.length * per_page));
    expect(sandbox.requests).toBe(expected.length);
  });

  it('every page keeps the filter', async () => {
    const { sandbox, client } = await sandboxAndClient();
    const [first, other] = sandbox.data.projects.map(({ project_id }) => project_id);
    expect(await sizes(pages(client.call, listDefects, { project_id: first, page: 7 }))).toEqual([1]);
    expect(await sizes(pages(client.call, listDefects, { project_id: other, page: 7 }))).toEqual([0]);
  });

  it.each<[string, (page: number) => number[], object, number[], number, boolean?, typeof listProjects?]>([
    ['a shorter one ends them', (page) => [[1, 2], [3, 4], [5]][page - 1] ?? [], { limit: 2 }, [2, 2, 1], 4],
    ['the service has smaller ones', (page) => [[1, 2], [3, 4], [5]][page - 1] ?? [], { limit: 100 }, [2, 2, 1], 4],
    ['a short one may be all', (page) => [[1, 2]][page - 1] ?? [], { limit: 100 }, [2, 0], 3],
    ['one that repeats may be cut off', () => [1, 2], { limit: 100 }, [2], 3, false],
    ['an empty one ends them', (page) => (page === 3 ? [] : [2 * page, 2 * page + 1]), { limit: 2 }, [2, 2, 0], 4],
    ['one that repeats ends them, and is left out', () => [1, 2], { limit: 2 }, [2], 3, false],
    ['the service has larger ones', (page) => [[1, 2, 3], [4]][page - 1] ?? [], { limit: 2 }, [3, 1], 3],
    ['an override says so', () => [1, 2], {}, [2], 1, true, withOverride(listProjects, { paged: false })],
  ])(
    'pages without pagination: %s',
    async (_, rows, payload, expected, requests, whole = true, list = listProjects) => {
      const { client, received } = await serverAndClient(({ body }, response) => {
        const { page } = decryptPayload(Buffer.from(body), defaultKey.secretKey);
        const data = rows(Number(page)).map((project_id) => ({ project_id: String(project_id) }));
        response.end(JSON.stringify({ success: true, data }));
      });
      expect(await sizes(pages(client.call, list, payload))).toEqual(expected);
      expect(received).toHaveLength(requests);
      const again = pages(client.call, list, payload);
      let next = await again.next();
      while (!next.done) next = await again.next();
      expect(next.value).toBe(whole);
    },
  );

  describe('of a service that counts them from 0', () => {
    const counting = (n: number, told: 'from 0' | 'from 1' | 'nowhere', other: object = {}) =>
      serverAndClient(({ body }, response) => {
        const { page, per_page } = decryptPayload(Buffer.from(body), defaultKey.secretKey);
        const [at, size] = [Number(page), Number(per_page)];
        const data = Array.from({ length: n }, (_, id) => ({ user_id: id })).slice(at * size, (at + 1) * size);
        const from = data.length > 0 ? at * size + 1 : null;
        const shift = told === 'from 1' ? 1 : 0;
        const last_page = Math.ceil(n / size) - 1 + shift;
        const pagination = { total: n, current_page: at + shift, last_page, from, ...other };
        response.end(JSON.stringify({ success: true, data, ...(told !== 'nowhere' && { pagination }) }));
      });

    it.each([
      [60, 'from 0', {}],
      [60, 'from 1', {}],
      [250, 'from 0', {}],
      [250, 'from 1', {}],
      [250, 'from 0', { from: undefined }],
      [1, 'from 0', {}],
      [60, 'nowhere', {}],
      [250, 'nowhere', {}],
      [200, 'nowhere', {}],
    ] as const)('are all read: %i rows, with pagination %s, %o', async (n, told, other) => {
      const { client, received } = await counting(n, told, other);
      const { rows, isWhole } = await rowsOf(pages(client.call, listUsers, {}));
      expect([rows.map(({ user_id }) => user_id), isWhole]).toEqual([Array.from({ length: n }, (_, id) => id), true]);
      const before = received.length;
      const known: KnownPaging = { paging: async () => ({ size: 100, first: 0 }), keepPaging: async () => {} };
      expect((await rowsOf(pages(client.call, listUsers, {}, 20, known))).rows).toHaveLength(n);
      expect(received.length - before).toBeLessThan(before);
    });
  });

  it.each([
    ['a list whose only page has fewer rows than its total is not whole', { last_page: 1, total: 60 }, 2, false],
    ['pages end if the list does not advance, without a repeated page', { last_page: 9 }, 2, false],
    ['the first page is used, whatever its number', { current_page: 0, last_page: 0 }, 1, true],
  ])('%s', async (_, told, requests, isWhole) => {
    const pagination = { current_page: 1, ...told };
    const { client, received } = await serverAndClient(
      reply(200, { success: true, data: [{ user_id: 1 }], pagination }),
    );
    expect(await rowsOf(pages(client.call, listUsers, {}))).toMatchObject({ rows: [{ user_id: 1 }], isWhole });
    expect(received).toHaveLength(requests);
  });

  it('pages end with the error of the page that fails', async () => {
    const { sandbox, client } = await sandboxAndClient();
    sandbox.setFault({ kind: 'server-error', skip: 1 });
    const seen: number[] = [];
    const read = async () => {
      for await (const { data } of pages(client.call, listUsers, { per_page: 2 })) seen.push(data.length);
    };
    expect(await failureOf(read())).toMatchObject({ name: 'PartnerRefusal', status: 500 });
    expect(seen).toEqual([2]);
  });
});
