import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { linkAccount } from '../as-person/linked.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, lastMessage, lastView, press, readable, submit, told } from '../slack-requests.ts';

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
const level = { type: 'string', enum: ['low', 'high'] };
const defs = { $defs: { level } };
const orNull = (schema: unknown) => ({ anyOf: [schema, { type: 'null' }] });

it.each<[string, Fields, string, string, unknown]>([
  ['text', one({ type: 'string', title: 'It', default: 'x' }), 'plain_text_input', '12', '12'],
  ['number', one({ type: 'number' }), 'number_input', '1.5', 1.5],
  ['integer or null', one(orNull({ type: 'integer' })), 'number_input', '7', 7],
  ['nullable boolean', one({ type: ['boolean', 'null'] }), 'static_select', 'true', true],
  ['date or null', one(orNull({ type: 'string', format: 'date' })), 'datepicker', '2026-11-20', '2026-11-20'],
  ['enumeration', one(level), 'static_select', 'low', 'low'],
  ['enumeration of numbers and null', one({ enum: [1, 2, null] }), 'static_select', '2', 2],
  ['reference to an enumeration', one({ $ref: '#/$defs/level' }, defs), 'static_select', 'high', 'high'],
  ['reference or null', one(orNull({ $ref: '#/$defs/level' }), defs), 'static_select', 'low', 'low'],
  [
    'several of an enumeration',
    one({ type: 'array', items: { $ref: '#/$defs/level' }, description: 'levels' }, defs),
    'multi_static_select',
    'low\nhigh',
    ['low', 'high'],
  ],
])('a form has a field for %s', async (_, of, type, typed, value) => {
  const view = await openForm(of);
  expect(typesIn(view)).toEqual([type]);
  expect(await submit(relay, view, { 'argument:it': typed })).toEqual({});
  await relay.work();
  expect(called).toEqual([{ it: value }]);
});

it.each(['', ' ', '__proto__'])('a form can be filled in for an argument of the name "%s"', async (name) => {
  const view = await openForm({ properties: Object.fromEntries([[name, { type: 'string' }]]) });
  expect(typesIn(view)).toEqual(['plain_text_input']);
  expect(JSON.stringify(view.view.blocks)).toContain('"action_id":"value"');
  expect(await submit(relay, view, { [`argument:${name}`]: 'x' })).toEqual({});
  await relay.work();
  expect(told(relay).at(-1)).toContain('The tool shape says: done');
  expect(JSON.stringify(called)).toBe(JSON.stringify([Object.fromEntries([[name, 'x']])]));
});

/** A schema that doubles the work of a reader with each of 60 levels. */
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, depth) => {
    const next = depth === 59 ? { type: 'string' } : { $ref: `#/$defs/d${depth + 1}` };
    return [`d${depth}`, { anyOf: [next, next] }];
  }),
);

it.each<[string, Fields]>([
  ['a keyword that constrains', one({ type: 'string', maxLength: 5 })],
  ['a constraint on the whole', { properties: { a: { type: 'string' } }, minProperties: 1 }],
  ['an object', one({ type: 'object', properties: { a: { type: 'integer' } } })],
  ['a list of texts', one({ type: 'array', items: { type: 'string' } })],
  ['anything', one({})],
  ['text or number', one({ anyOf: [{ type: 'string' }, { type: 'integer' }] })],
  ['an enumeration of objects', one({ enum: [{ a: 1 }] })],
  ['an enumeration of values that look the same', one({ enum: [1, '1'] })],
  [
    'a reference to itself',
    one({ $ref: '#/$defs/a' }, { $defs: { a: { enum: ['x'], anyOf: [{ $ref: '#/$defs/a' }] } } }),
  ],
  ['references that double', one({ $ref: '#/$defs/d0' }, { $defs: doubling })],
  ['a required argument that is not listed', { required: ['loose'] }],
])('a tool whose arguments are not flat is used in the service: %s', async (_, of) => {
  schema = of;
  relay.clock.now += 120_000;
  const { inTheEnd } = await ask(relay, 'do takes');
  expect(inTheEnd).toContain('Use it in the service');
  expect(inTheEnd).not.toContain('Fill in');
});

it('a form holds many references to one enumeration, what is needed first', async () => {
  const level = { enum: Array.from({ length: 25 }, (_, index) => index) };
  const names = Array.from({ length: 80 }, (_, index) => [`a${index}`, { $ref: '#/$defs/level' }]);
  const view = await openForm({ $defs: { level }, properties: Object.fromEntries(names), required: ['a79'] });
  expect(typesIn(view)).toHaveLength(80);
  expect(view.view.blocks[1]?.block_id).toBe('argument:a79');
  expect(await submit(relay, view, { 'argument:a7': '24', 'argument:a79': '0' })).toEqual({});
  await relay.work();
  expect(called).toEqual([{ a79: 0, a7: 24 }]);
});

it.each<[string, number, (count: number) => Fields]>([
  ['arguments', 90, (count) => ({ properties: Object.fromEntries(Array(count).fill({ type: 'string' }).entries()) })],
  ['choices', 100, (count) => one({ enum: [...Array(count).keys()] })],
  ['characters of a choice', 75, (count) => one({ enum: ['x'.repeat(count)] })],
  ['characters of a name', 246, (count) => ({ properties: { ['x'.repeat(count)]: { type: 'string' } } })],
])('a form holds as many %s as Slack does: %i', async (_, most, of) => {
  expect(typesIn(await openForm(of(most)))).not.toEqual([]);
  expect(readable((await openForm(of(most + 1))).view.blocks)).toContain('in the service');
});

it('an argument that is needed and may be null can stay empty', async () => {
  const view = await openForm(one({ type: ['string', 'null'] }, { required: ['it'] }));
  expect(await submit(relay, view, {})).toEqual({});
  await relay.work();
  expect(called).toEqual([{ it: null }]);
});

it.each<[string, Fields, string, string]>([
  ['no number', one({ type: 'number' }), 'x', 'this must be a number'],
  ['no whole number', one({ type: 'integer' }), '1.5', 'this must be a whole number'],
  ['no date', one({ type: 'string', format: 'date' }), '2026-02-30', 'this must be a date as YYYY-MM-DD'],
  ['another choice', one(level), 'middle', 'this must be one of low, high'],
  ['nothing', one({ type: 'string' }, { required: ['it'] }), '', 'this must not be empty'],
])('what the schema refuses is shown at the field: %s', async (_, of, typed, fault) => {
  const view = await openForm(of);
  expect(await submit(relay, view, { 'argument:it': typed })).toEqual({ 'argument:it': fault });
  await relay.work();
  expect(called).toEqual([]);
});

it('a tool that has changed since its form was opened is not called', async () => {
  const view = await openForm(one({ type: 'string' }));
  schema = one({ type: 'string', title: 'Another' });
  expect(await submit(relay, view, { 'argument:it': 'x' })).toEqual({});
  await relay.work();
  expect(told(relay).at(-1)).toContain('has changed since the form was opened');
  expect(called).toEqual([]);
});
