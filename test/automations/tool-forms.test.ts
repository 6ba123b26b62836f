import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { linkAccount } from '../mcp/linked.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, lastMessage, lastView, press, submit, told } from '../slack-requests.ts';

type Fields = Record<string, unknown>;

/** The schema of a tool of the instance, and what it was called with. */
let schema: Fields;
let called: unknown[];
let relay: TestRelay;

async function fetchWithTool(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const asked = typeof init?.body === 'string' && init.body.startsWith('{') ? JSON.parse(init.body) : {};
  const isCall = asked.method === 'tools/call' && asked.params.name === 'shape';
  const answer = await fetch(input, init);
  if (!isCall && asked.method !== 'tools/list') return answer;
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  headers.set('content-type', 'application/json');
  const { id } = asked;
  if (isCall) called.push(asked.params.arguments);
  const result = isCall
    ? { content: [{ type: 'text', text: 'done' }] }
    : {
        tools: [
          {
            name: 'shape',
            description: 'takes shapes',
            inputSchema: { type: 'object', ...schema },
            annotations: { destructiveHint: false },
          },
        ],
      };
  return new Response(JSON.stringify({ jsonrpc: '2.0', id, result }), { headers });
}

beforeAll(async () => {
  const config = exampleConfig({}, { connection: { mcp: { link: 'offered' } } });
  relay = await startRelay({ config, sandbox: { mcp: { enabled: true } }, runtime: { fetch: fetchWithTool } });
  await linkAccount(relay);
});
afterAll(() => relay.close());
beforeEach(() => {
  called = [];
});

async function openForm(of: Fields) {
  schema = of;
  relay.clock.now += 120_000;
  await ask(relay, 'do takes');
  await press(relay, lastMessage(relay), 'Fill in');
  await relay.work();
  return lastView(relay);
}

const typesIn = ({ view }: Awaited<ReturnType<typeof openForm>>) =>
  view.blocks.flatMap((block) => ('element' in block ? [block.element.type] : []));

const one = (property: unknown, more: Fields = {}) => ({ properties: { it: property }, ...more });
const defs = {
  $defs: { level: { enum: ['low', 'high'] }, maybe: { anyOf: [{ $ref: '#/$defs/level' }, { type: 'null' }] } },
};

it.each<[string, Fields, string, string, unknown]>([
  ['nullable boolean', one({ type: ['boolean', 'null'] }), 'static_select', 'true', true],
  ['nullable list', one({ type: ['array', 'null'], items: { type: 'integer' } }), 'plain_text_input', '1\n2', [1, 2]],
  [
    'nullable date',
    one({ anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] }),
    'datepicker',
    '2026-11-20',
    '2026-11-20',
  ],
  ['nullable number', one({ anyOf: [{ type: 'number', maximum: 5 }, { type: 'null' }] }), 'number_input', '1.5', 1.5],
  ['boolean or null', one({ oneOf: [{ type: 'null' }, { type: 'boolean' }] }), 'static_select', 'false', false],
  ['reference', one({ $ref: '#/$defs/level' }, defs), 'static_select', 'high', 'high'],
  ['reference through a reference, or null', one({ $ref: '#/$defs/maybe' }, defs), 'static_select', 'low', 'low'],
  [
    'reference in a list',
    one({ type: 'array', items: { $ref: '#/$defs/level' } }, defs),
    'plain_text_input',
    'low\nHIGH',
    ['low', 'high'],
  ],
  [
    'reference with a description, as pydantic writes it',
    one({ allOf: [{ $ref: '#/$defs/level' }], description: 'how bad' }, defs),
    'static_select',
    'low',
    'low',
  ],
  [
    'reference with escaped names',
    one({ $ref: '#/$defs/a~1b%20c' }, { $defs: { 'a/b c': { type: 'boolean' } } }),
    'static_select',
    'true',
    true,
  ],
  ['enum of numbers', one({ enum: [1, 2, null] }), 'static_select', '2', 2],
  ['enum of objects', one({ enum: [{ a: 1 }, { a: 2 }] }), 'static_select', '{"a":2}', { a: 2 }],
  ['enum with an empty text', one({ enum: ['', 'a'] }), 'static_select', '""', ''],
  ['enum whose values look the same', one({ enum: [1, '1'] }), 'static_select', '"1"', '1'],
  ['constant', one({ const: 'fixed' }), 'static_select', 'fixed', 'fixed'],
  [
    'titled constants',
    one({
      oneOf: [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'B' },
      ],
    }),
    'static_select',
    'b',
    'b',
  ],
  ['text or number', one({ anyOf: [{ type: 'string' }, { type: 'integer' }] }), 'plain_text_input', '12', '12'],
  ['number or boolean', one({ type: ['number', 'boolean'] }), 'plain_text_input', 'true', true],
  ['object', one({ type: 'object', properties: { a: { type: 'integer' } } }), 'plain_text_input', '{"a":1}', { a: 1 }],
  [
    'list of lists',
    one({ type: 'array', items: { type: 'array', items: { type: 'string' } } }),
    'plain_text_input',
    '[["a"]]',
    [['a']],
  ],
  [
    'tuple',
    one({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }),
    'plain_text_input',
    '["a",1]',
    ['a', 1],
  ],
  [
    'reference to itself',
    one(
      { $ref: '#/$defs/tree' },
      { $defs: { tree: { type: 'object', properties: { next: { $ref: '#/$defs/tree' } } } } },
    ),
    'plain_text_input',
    '{"next":{}}',
    { next: {} },
  ],
  ['reference that is no pointer', one({ $ref: '#/$defs/%E0%A4%A' }, { $defs: {} }), 'plain_text_input', '', undefined],
  ['anything', one({}), 'plain_text_input', '12', '12'],
  ['a huge bound', one({ type: 'number', maximum: 1e300 }), 'number_input', '7', 7],
])('a form has a field for each shape that the validator accepts: %s', async (_, of, type, typed, value) => {
  const view = await openForm(of);
  expect(typesIn(view)).toEqual([type]);
  expect(await submit(relay, view, { 'argument:it': typed })).toEqual({});
  await relay.work();
  expect(called).toEqual([{ it: value }]);
});

it.each<[string, Fields, string]>([
  ['an argument without a name', { properties: { '': { type: 'string' } } }, ''],
  ['an argument whose name is a blank', { properties: { ' ': { type: 'string' } } }, ' '],
  ['an argument that objects have anyway', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), '__proto__'],
  ['an argument that is only required', { required: ['loose'] }, 'loose'],
  [
    'arguments in a part of the schema',
    { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { properties: { in: { type: 'string' } } } } },
    'in',
  ],
])('a form can be filled in for %s', async (_, of, name) => {
  const view = await openForm(of);
  expect(typesIn(view)).toEqual(['plain_text_input']);
  expect(await submit(relay, view, { [`argument:${name}`]: 'x' })).toEqual({});
  await relay.work();
  expect(told(relay).at(-1)).toContain('The tool shape says: done');
  expect(JSON.stringify(called)).toBe(JSON.stringify([Object.fromEntries([[name, 'x']])]));
});

it('a schema of absurd size makes a form in time', async () => {
  const values = Array.from({ length: 5_000 }, (_, index) => index);
  const level = { anyOf: [{ enum: values }, { enum: values }, { type: 'null' }] };
  const names = Array.from({ length: 80 }, (_, index) => [`a${index}`, { $ref: '#/$defs/level' }]);
  const view = await openForm({ $defs: { level }, properties: Object.fromEntries(names) });
  expect(typesIn(view)).toHaveLength(80);
  expect(await submit(relay, view, { 'argument:a7': '4999' })).toEqual({});
  await relay.work();
  expect(called).toEqual([{ a7: 4999 }]);
});

it('an argument that is needed and may be null can stay empty', async () => {
  const view = await openForm(one({ type: ['string', 'null'] }, { required: ['it'] }));
  expect(await submit(relay, view, {})).toEqual({});
  await relay.work();
  expect(called).toEqual([{ it: null }]);
});

it.each<[string, Fields, string, string | RegExp]>([
  ['no JSON', one({ type: 'object' }), '{a', 'this is not JSON'],
  ['other JSON', one({ type: 'object' }), '[]', /Expected "object"/],
  [
    'inside JSON',
    one({ type: 'object', properties: { 'a b': { type: 'integer' } } }),
    '{"a b":"x"}',
    /^\/a b: .*Expected "integer"/,
  ],
  ['an entry of a list', one({ type: 'array', items: { type: 'integer' } }), '1\nx', /^\/1: .*Expected "integer"/],
  ['one that may be null', one({ anyOf: [{ type: 'string', maxLength: 2 }, { type: 'null' }] }), 'abc', /too long/],
])('what the validator refuses is shown at the field: %s', async (_, of, typed, fault) => {
  const view = await openForm(of);
  expect(await submit(relay, view, { 'argument:it': typed })).toEqual({
    'argument:it': expect.stringMatching(fault),
  });
  await relay.work();
  expect(called).toEqual([]);
});

it('what is wrong with the whole form is shown at its first field', async () => {
  const view = await openForm({ properties: { a: { type: 'string' }, b: { type: 'string' } }, minProperties: 2 });
  expect(await submit(relay, view, { 'argument:b': 'x' })).toEqual({ 'argument:a': expect.stringContaining('2') });
});

it('a tool that has changed since its form was opened is not called', async () => {
  const view = await openForm(one({ type: 'string' }));
  schema = one({ type: 'string', maxLength: 5 });
  expect(await submit(relay, view, { 'argument:it': 'x' })).toEqual({});
  await relay.work();
  expect(told(relay).at(-1)).toContain('has changed since the form was opened');
  expect(called).toEqual([]);
});
