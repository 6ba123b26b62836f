import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMcpClient, type McpClient, revisions } from '../../lib/as-person/protocol/client.ts';
import { McpError } from '../../lib/as-person/protocol/errors.ts';
import { readEvents } from '../../lib/as-person/protocol/event-stream.ts';
import { exchange, readText } from '../../lib/as-person/protocol/exchange.ts';
import { readChallenge } from '../../lib/as-person/protocol/oauth/challenge.ts';
import type { Permit, Transport } from '../../lib/as-person/protocol/transport.ts';
import { portOf } from '../service/partner/client-at-noon.ts';

interface Received {
  verb: string;
  headers: Record<string, string | string[] | undefined>;
  id: number;
  method: string;
  params: Record<string, unknown>;
}

/** Answers instead of the server, by method; GET is for a stream that the client resumes. */
type Answers = Record<string, (request: Received, response: ServerResponse) => void>;

const json = (response: ServerResponse, message: object, headers = {}) =>
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }));

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

const result = (id: number, said = 'done') => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text: said }] },
});

/** A small MCP server, and a client for it. */
async function serve(
  answers: Answers = {},
  options: Partial<Transport> = {},
): Promise<{ client: McpClient; received: Received[] }> {
  const received: Received[] = [];
  const usual: Answers = {
    initialize: ({ id, params }, response) =>
      json(response, { id, result: { protocolVersion: params.protocolVersion } }, { 'mcp-session-id': 's1' }),
    'tools/list': ({ id }, response) => json(response, { id, result: { tools: [] } }),
    'tools/call': ({ id }, response) => json(response, result(id)),
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const message = body === '' ? {} : JSON.parse(body);
    const one: Received = { verb: request.method ?? '', headers: request.headers, ...message };
    received.push(one);
    const answer = { ...usual, ...answers }[one.method ?? one.verb];
    if (answer) answer(one, response);
    else response.writeHead(202).end();
  });
  const endpoint = `http://127.0.0.1:${await portOf(server)}/mcp`;
  return { client: clientOf(endpoint, options), received };
}

const clientOf = (endpoint: string, options: Partial<Transport> = {}) =>
  createMcpClient({ endpoint, permit: (send) => send(), fetch, clock: Date.now, sleep: async () => {}, ...options });

const call = (client: McpClient) => client.callTool('token', 'tool', {});

async function failureOf(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    () => new Error('it worked'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof McpError) return error;
  throw error;
}

describe('the handshake', () => {
  const refuse =
    (data?: object, accepted?: string): Answers[string] =>
    ({ id, params }, response) => {
      const { protocolVersion } = params;
      if (protocolVersion === accepted) json(response, { id, result: { protocolVersion } });
      else json(response, { id, error: { code: -32602, message: 'Unsupported protocol version', data } });
    };
  const wants =
    (protocolVersion: string): Answers[string] =>
    ({ id }, response) =>
      json(response, { id, result: { protocolVersion } });
  const offered = (received: Received[]) =>
    received.filter(({ method }) => method === 'initialize').map(({ params }) => params.protocolVersion);

  it('offers the newest revision of the docs/partner-api.md', async () => {
    const { client, received } = await serve();
    expect(await client.initialize('token')).toMatchObject({ revision: '2025-11-25' });
    expect(offered(received)).toEqual(['2025-11-25']);
    expect(received.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
  });

  it.each(revisions)('takes %s if the service wants it, and names it from 2025-06-18 on', async (revision) => {
    const { client, received } = await serve({ initialize: wants(revision) });
    await call(client);
    const named = revision >= '2025-06-18' ? revision : undefined;
    expect(received.at(-1)?.headers['mcp-protocol-version']).toBe(named);
  });

  it('offers an older revision after a refusal: the newest that the service names, or the next', async () => {
    const told = await serve({ initialize: refuse({ supported: ['2024-11-05', '2025-03-26'] }, '2025-03-26') });
    expect((await told.client.initialize('token')).revision).toBe('2025-03-26');
    expect(offered(told.received)).toEqual(['2025-11-25', '2025-03-26']);
    const silent = await serve({ initialize: refuse(undefined, '2024-11-05') });
    expect((await silent.client.initialize('token')).revision).toBe('2024-11-05');
    expect(offered(silent.received)).toEqual(revisions);
  });

  it('offers an older revision to an endpoint that refuses the first request with 400, but not after it', async () => {
    const old = await serve({
      initialize({ id, params }, response) {
        const { protocolVersion } = params;
        if (protocolVersion === '2025-03-26') json(response, { id, result: { protocolVersion } });
        else response.writeHead(400).end('Bad Request');
      },
    });
    expect((await old.client.initialize('token')).revision).toBe('2025-03-26');
    const broken = await serve({ initialize: (_, response) => response.writeHead(400).end('Bad Request') });
    expect(await failureOf(broken.client.initialize('token'))).toMatchObject({ name: 'McpRefusal', status: 400 });
    expect(offered(broken.received)).toEqual(revisions);
  });

  it.each([
    ['answers with it', wants('2026-07-28')],
    ['refuses with it', refuse({ supported: ['2026-07-28'] })],
  ])('says clearly that the service wants another revision, if it %s', async (_, initialize) => {
    const { client } = await serve({ initialize });
    const error = await failureOf(client.initialize('token'));
    expect(error).toMatchObject({ name: 'McpRevisionError' });
    expect(error.message).toBe(
      `initialize: the service wants another revision of MCP (2026-07-28); this relay speaks ${revisions.join(', ')}`,
    );
  });
});

describe('an answer', () => {
  it('comes as JSON, in a stream after other messages, or in a batch', async () => {
    const answers: Answers[string][] = [
      ({ id }, response) => json(response, result(id)),
      ({ id }, response) =>
        stream(response).end(
          `: hello\r\n\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\nevent: message\ndata: ${JSON.stringify(result(id))}\n\n`,
        ),
      ({ id }, response) => response.writeHead(200).end(JSON.stringify([{ method: 'x' }, result(id)])),
    ];
    for (const answer of answers) {
      const { client } = await serve({ 'tools/call': answer });
      expect(await call(client)).toMatchObject({ texts: ['done'] });
    }
  });

  it('is awaited while the service pings', async () => {
    const { client, received } = await serve({
      'tools/call': ({ id }, response) => {
        stream(response).write(
          'data: {"jsonrpc":"2.0","id":"p","method":"ping"}\n\ndata: {"jsonrpc":"2.0","id":"s","method":"sampling/createMessage"}\n\n',
        );
        setTimeout(() => response.end(`data: ${JSON.stringify(result(id))}\n\n`), 50);
      },
    });
    expect(await call(client)).toMatchObject({ texts: ['done'] });
    const answered = received.filter(({ method }) => method === undefined);
    expect(answered).toMatchObject([
      { id: 'p', result: {} },
      { id: 's', error: { code: -32601 } },
    ]);
  });

  const large = 'x'.repeat(5 * 1024 * 1024);
  it.each<[string, Answers[string], string]>([
    ['a page', (_, response) => response.end('<!DOCTYPE html><p>hello'), 'an HTML page'],
    ['nothing', (_, response) => response.end(), 'an empty body'],
    ['other JSON', (_, response) => response.end('{"ok":true}'), 'no JSON-RPC message'],
    ['the answer to another request', (_, response) => json(response, result(99)), 'no answer to the request'],
    ['a redirect', (_, response) => response.writeHead(302, { location: 'https://evil.example' }).end(), 'a redirect'],
    ['more than 2 MB', (_, response) => response.end(large), 'more than 2 MB'],
    ['more than 2 MB in a stream', (_, response) => stream(response).end(`data: ${large}\n\n`), 'more than 2 MB'],
    ['nothing but brackets', (_, response) => response.end('['.repeat(1_000_000)), 'no JSON-RPC message'],
    ['another event', (_, response) => stream(response).end('data: hello\n\n'), 'an event without a message'],
    ['no content', ({ id }, response) => json(response, { id, result: { content: 'done' } }), 'no result of a tool'],
  ])('that is %s is unreadable', async (_, answer, found) => {
    const { client } = await serve({ 'tools/call': answer });
    const error = await failureOf(call(client));
    expect(error.name).toBe('McpUnreadable');
    expect(error.message).toMatch(/^tools\/call: the service answers \d+ \(/);
    expect(error.message).toContain(found);
  });

  it.each<[string, Answers[string], boolean]>([
    ['the connection is cut', (_, response) => response.destroy(), true],
    ['a body is cut', (_, response) => void response.writeHead(200).write('{', () => response.destroy()), true],
    ['a stream ends', (_, response) => stream(response).end(': nothing\n\n'), true],
    ['headers do not come', () => {}, true],
    ['a stream does not end', (_, response) => void stream(response).write(': wait\n\n'), true],
  ])('is missing if %s, and the request was sent', async (_, answer, sent) => {
    const { client } = await serve(
      { 'tools/call': answer },
      { times: { headersTimeoutMs: 200, answerTimeoutMs: 400 } },
    );
    expect(await failureOf(call(client))).toMatchObject({ name: 'McpUnanswered', sent });
  });

  it.each([
    ['whose headers come after 9 s', 9_000, 9_000, 'done'],
    ['whose headers come after 11 s', 11_000, 11_000, 'nothing within 10 s'],
    ['whose last byte comes after 29 s', 0, 29_000, 'done'],
    ['whose last byte comes after 31 s', 0, 31_000, 'nothing within 30 s'],
  ])('has 10 seconds for its headers and 30 in all: one %s', async (_, headersMs, endMs, found) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const slow: typeof fetch = (_url, init) =>
      new Promise((resolve, reject) => {
        const body = new ReadableStream({
          start(stream) {
            const end = setTimeout(() => {
              stream.enqueue(Buffer.from('done'));
              stream.close();
            }, endMs);
            init?.signal?.addEventListener('abort', () => {
              clearTimeout(end);
              stream.error(init.signal?.reason);
            });
          },
        });
        setTimeout(() => resolve(new Response(body)), headersMs);
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const answer = exchange(slow, 'tools/call', 'https://pm.example.com', {})
      .then(readText)
      .catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await answer).toContain(found);
  });

  it('is missing if nothing listens, and the request was not sent', async () => {
    expect(await failureOf(call(clientOf('http://127.0.0.1:2/')))).toMatchObject({
      name: 'McpUnanswered',
      sent: false,
    });
  });
});

describe('an interrupted stream', () => {
  it('resumes after its last event', async () => {
    let id = 0;
    const { client, received } = await serve({
      'tools/call': (request, response) => {
        id = request.id;
        stream(response).write('id: e1\nretry: 1\ndata:\n\n', () => response.destroy());
      },
      GET: (_, response) => stream(response).end(`id: e2\ndata: ${JSON.stringify(result(id))}\n\n`),
    });
    expect(await call(client)).toMatchObject({ texts: ['done'] });
    const [resumed] = received.filter(({ verb }) => verb === 'GET');
    expect(resumed?.headers).toMatchObject({
      'last-event-id': 'e1',
      'mcp-session-id': 's1',
      authorization: 'Bearer token',
    });
  });

  it('leaves the result unknown if the service does not resume it, or always cuts it', async () => {
    const cut: Answers[string] = (_, response) => void stream(response).write('id: e1\n\n', () => response.destroy());
    for (const GET of [cut, ((_, response) => response.writeHead(405).end()) as Answers[string]]) {
      const { client, received } = await serve({ 'tools/call': cut, GET });
      expect(await failureOf(call(client))).toMatchObject({ name: 'McpUnanswered', sent: true });
      expect(received.filter(({ verb }) => verb === 'GET').length).toBeLessThanOrEqual(5);
    }
  });

  it('counts as sent even if the budget has no slot to resume it', async () => {
    let requests = 0;
    const permit: Permit = (send) => {
      // The handshake and the call get their slots.
      if (++requests > 3) throw new Error('the minute is used up');
      return send();
    };
    const cut: Answers[string] = (_, response) => void stream(response).write('id: e1\n\n', () => response.destroy());
    const { client } = await serve({ 'tools/call': cut }, { permit });
    expect(await failureOf(call(client))).toMatchObject({ name: 'McpUnanswered', sent: true });
  });

  it('gives the same events, however its bytes are split', async () => {
    const bytes = new TextEncoder().encode(
      '\ufeffid: 1\r\ndata: gr\u00fc\u00dfe\r\ndata:zwei\r\rretry: 7\n\nid\n: no\ndata\n\ndata: cut',
    );
    const whole = await Array.fromAsync(readEvents(chunksOf([bytes])));
    expect(whole).toEqual([
      { id: '1', data: 'gr\u00fc\u00dfe\nzwei', retryMs: undefined },
      { id: undefined, data: '', retryMs: 7 },
      { id: '', data: '', retryMs: undefined },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (places) => {
        const ends = [...places, bytes.length].sort((a, b) => a - b);
        const parts = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
        expect(await Array.fromAsync(readEvents(chunksOf(parts)))).toEqual(whole);
      }),
    );
  });
});

async function* chunksOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

describe('the list of tools', () => {
  const tool = (name: string, inputSchema: unknown = { type: 'object' }) => ({ name, inputSchema });
  const many = (count: number) => Array.from({ length: count }, (_, at) => tool(`t${at}`));
  const deep = (depth: number): object =>
    depth === 0 ? { type: 'object' } : { type: 'object', properties: { a: deep(depth - 1) } };
  const listing =
    (pages: Record<string, object>): Answers[string] =>
    ({ id, params }, response) =>
      json(response, { id, result: pages[String(params.cursor ?? '')] ?? {} });

  const pagesOf = (count: number, one: object) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [at || '', { tools: [one], nextCursor: String(at + 1) }]),
    );

  it.each([
    ['all', undefined, ['a', 'b']],
    ['only those that were asked for', ['b', 'c'], ['b']],
  ])('is read page by page, and keeps %s', async (_, only, kept) => {
    const pages = { '': { tools: [tool('a'), 'text'], nextCursor: '2' }, 2: { tools: [tool('b')] } };
    const { client } = await serve({ 'tools/list': listing(pages) });
    const list = await client.listTools('token', only);
    expect(list.tools.map(({ name }) => name)).toEqual(kept);
    expect(list.unusable).toHaveLength(only ? 0 : 1);
  });

  it('leaves out unusable tools, with the reason', async () => {
    const tools = [
      tool('good'),
      tool('deep', deep(40)),
      tool('large', { type: 'object', description: 'x'.repeat(70_000) }),
      tool('many', { type: 'object', enum: Array(6_000).fill(1) }),
      tool('no object', { type: 'object' }),
      tool('odd', { type: 'string' }),
      tool('\u001b[2J'),
      'text',
    ];
    const { client } = await serve({ 'tools/list': listing({ '': { tools } }) });
    const list = await client.listTools('token');
    expect(list.tools.map(({ name }) => name)).toEqual(['good']);
    expect(list.unusable.map(({ name, why }) => `${name}: ${why}`)).toEqual([
      'deep: it is nested deeper than 24 levels',
      expect.stringMatching(/^large: its inputSchema has \d+ bytes; 65536 are the most$/),
      'many: it has more than 5000 values',
      expect.stringContaining('no object: its name is not'),
      'odd: its inputSchema is no JSON schema of an object',
      expect.stringContaining('[2J: its name is not'),
      expect.stringContaining('(no name): its name is not'),
    ]);
  });

  it.each([
    ['goes in a circle', { '': { tools: [], nextCursor: '1' }, 1: { tools: [], nextCursor: '1' } }, 'was there before'],
    ['has more than 1,000 tools', { '': { tools: many(1_001) } }, 'more than 1000 tools'],
    ['has more than 2 MB on all pages', pagesOf(40, tool('a', { description: 'x'.repeat(6e4) })), '2097152 characters'],
    ['has more than 200,000 values', pagesOf(4, tool('a', Array(60_000).fill(1))), 'more than 200000 JSON values'],
    ['has more than 50 pages', pagesOf(60, tool('a')), 'more than 50 pages'],
    ['has 1,000 tools', { '': { tools: many(1_000), nextCursor: 7 } }, 'no list of tools'],
    ['is none', { '': { tools: 'many' } }, 'no list of tools'],
  ])('that %s is unreadable', async (_, pages, found) => {
    const { client } = await serve({ 'tools/list': listing(pages) });
    expect((await failureOf(client.listTools('token'))).message).toContain(found);
  });
});

describe('a session', () => {
  it('begins again after a 404, and the request is sent in the new one', async () => {
    let sessions = 0;
    const { client, received } = await serve({
      initialize: ({ id, params }, response) =>
        json(
          response,
          { id, result: { protocolVersion: params.protocolVersion } },
          { 'mcp-session-id': `s${++sessions}` },
        ),
      'tools/call': ({ id, headers }, response) =>
        headers['mcp-session-id'] === 's1' ? response.writeHead(404).end() : json(response, result(id)),
    });
    expect(await call(client)).toMatchObject({ texts: ['done'] });
    expect(received.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
  });

  it('is given up if the service forgets each new one', async () => {
    const { client, received } = await serve({ 'tools/call': (_, response) => response.writeHead(404).end() });
    expect(await failureOf(call(client))).toMatchObject({ name: 'McpRefusal', status: 404 });
    expect(received.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
  });
});

it.each([
  [null, null],
  ['Basic realm="x"', null],
  ['Bearer', { error: null, description: null, scopes: [], resourceMetadata: null }],
  [
    'Basic realm="x", bearer error="invalid_token", error_description="say \\"please\\"", scope="mcp:use x", resource_metadata="https://x/y"',
    { error: 'invalid_token', description: 'say "please"', scopes: ['mcp:use'], resourceMetadata: 'https://x/y' },
  ],
  ['Bearer error="invalid_request", error="invalid_token"', { error: 'invalid_request' }],
  ['Bearer error="a"', { error: null }],
])('a challenge: %s', (header, expected) => {
  if (expected === null) expect(readChallenge(header)).toBeNull();
  else expect(readChallenge(header)).toMatchObject(expected);
});
