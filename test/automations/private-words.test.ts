import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../lib/engine/record/job.ts';
import type { StepEntry } from '../../lib/engine/record/journal.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { runRelay, targetOf } from '../cli/run-command.ts';
import { consoleOf, TOKEN } from '../console/console-of.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { command, MIRA, TOMASZ } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
/** The tool says this, and only messages to the person may contain it. */
const CANARY = 'salary 91,000';

let relay: TestRelay;
/** Answers instead of the tool, until it returns undefined. */
let answering: (call: { id: number; name: string }) => Response | undefined;
/** Answers instead of other endpoints, by method or path. */
let answeringAt: (at: string, id: number) => Response | undefined;

async function fetchAltered(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const asked = typeof init?.body === 'string' && init.body.startsWith('{') ? JSON.parse(init.body) : {};
  const instead = answeringAt(asked.method ?? new URL(String(input)).pathname, asked.id);
  if (instead) return instead;
  const answer = await fetch(input, init);
  return (asked.method === 'tools/call' && answering({ id: asked.id, name: asked.params.name })) || answer;
}

const json = (body: object, status = 200) => Response.json({ jsonrpc: '2.0', ...body }, { status });
const says = (result: object) => (call: { id: number }) => json({ id: call.id, result });
const text = [{ type: 'text', text: CANARY }];
/** Replaces only the first answer. */
function once(answer: (call: { id: number }) => Response): typeof answering {
  let isLeft = true;
  return (call) => {
    if (!isLeft) return undefined;
    isLeft = false;
    return answer(call);
  };
}

beforeEach(async () => {
  const config = exampleConfig({}, { connection: { mcp: { accounts: 'offered', commands: sandboxCommands() } } });
  relay = await startRelay({ config, sandbox: { mcp: { enabled: true } }, runtime: { fetch: fetchAltered } });
  answering = () => undefined;
  answeringAt = () => undefined;
  await linkAccount(relay);
});

const search = () => command(relay, 'find checkout');
const log = () => command(relay, `log 1h ${CHECKOUT}`);

/** Everything that other people can read, as one text. */
async function recorded(): Promise<string> {
  const TableName = relay.runtime.environment.TABLE_NAME;
  const { Items = [] } = await new DynamoDBClient({}).send(new ScanCommand({ TableName }));
  const bytes = JSON.stringify(Items, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  const open = await consoleOf(relay);
  const jobs = await relay.jobs();
  const pages = await Promise.all(
    ['/api/jobs', '/api/now', ...jobs.map(({ id }) => `/api/jobs/${encodeURIComponent(id)}`)].map(async (path) => {
      const { status, body } = await open.raw('GET', path, { authorization: `Bearer ${TOKEN}` });
      return `${status} ${body}`;
    }),
  );
  await open.close();
  const printed: string[] = [];
  for (const words of [['jobs', '--json'], ...jobs.map(({ id }) => ['job', id])])
    printed.push(await runRelay({ open: async () => targetOf(relay) }, ...words));
  return [bytes, ...pages, ...printed, JSON.stringify(relay.log), JSON.stringify(relay.metrics)].join('\n');
}

const fails = (error: object, status?: number) => (call: { id: number }) => json({ id: call.id, error }, status);
const toLog = (answer: (call: { id: number }) => Response) => (call: { id: number; name: string }) =>
  call.name === 'log_time' ? answer(call) : undefined;
const entry = { content: [], structuredContent: { entry: { timelog_id: CANARY } } };
const rows = { content: [], structuredContent: { tasks: [{ task: 'a1', title: CANARY }] } };

it.each<[string, () => typeof answering, () => Promise<unknown>, 'told' | 'in other words']>([
  ['a result', () => says({ content: text }), search, 'told'],
  ['an error of the tool', () => says({ content: text, isError: true }), search, 'told'],
  ['an error of the protocol', () => fails({ code: -32602, message: CANARY }), search, 'told'],
  ['a failure that passes', () => once(fails({ code: -32603, message: CANARY }, 503)), search, 'in other words'],
  ['no scope', () => once(fails({ code: -32001, message: `${CANARY} needs mcp:tasks.read` }, 403)), search, 'told'],
  ['an unclear answer', () => toLog(fails({ message: CANARY }, 502)), log, 'in other words'],
  ['words in place of an id', () => toLog(says(entry)), log, 'in other words'],
  ['rows of a list', () => says(rows), search, 'told'],
])('only the person sees what a tool says: %s', async (_, answer, request, isTold) => {
  answering = answer();
  await request();
  // The relay stops between the call and the message to the person.
  relay.slack.fail({ method: 'response_url', kind: 'error', error: 'fatal_error' });
  await relay.work();
  expect(await recorded()).not.toContain(CANARY);
  await relay.workToTheEnd();
  if (isTold === 'told') expect(JSON.stringify([relay.told(), relay.slack.messages])).toContain(CANARY);
  const all = await recorded();
  expect(all).not.toContain(CANARY);
  expect(all).toContain('main');
});

/** Changes that a person with write access to the table may make in a finished job, so that it runs again. */
describe.each<[string, () => typeof answering]>([
  ['said', () => says({ content: text })],
  ['refused', () => says({ content: text, isError: true })],
])('the result of a tool that has %s stays sealed if someone resets the job', (has, answer) => {
  // A refused call may be repeated.
  const unsealed = has === 'said' ? /in a form that the relay does not write$/ : /^$/;
  it.each<[string, Partial<Job>, { [field in keyof StepEntry]?: StepEntry[field] | undefined }, RegExp?]>([
    ['to be told to another person', { replyTo: { in: 'slack', userId: TOMASZ } }, {}],
    ['with steps that called no tool', {}, { calls: 'GitHub permission' }],
    ['with steps that are not sealed', {}, { sealed: undefined, result: 'x' }, unsealed],
    ['with steps that are sealed by others', {}, { sealed: new Uint8Array(40) }, /changed in the journal, or the key/],
  ])('%s', async (_, changed, changedStep, reason = /^/) => {
    answering = answer();
    await search();
    await relay.workToTheEnd();
    const job = (await relay.jobs()).find(({ automation }) => automation === 'find') ?? expect.fail('there is no job');
    const { table, queue } = relay.stores;
    for (const { pk, sk, ...item } of await table.partition(keys.job(job.id).pk)) {
      const key = { pk: String(pk), sk: String(sk) };
      if (item.step === 'reply') await table.delete(key);
      else if (item.sealed) await table.put({ ...key, ...item, ...changedStep });
    }
    const setBack = { ...job, ...changed, status: 'queued' as const, generation: job.generation + 1 };
    await table.put({ ...keys.job(job.id), ...setBack });
    await queue.send(setBack);
    const before = relay.slack.messages.length;
    await relay.workToTheEnd();
    expect((await relay.jobs('parked'))[0]?.parked?.reason ?? '').toMatch(reason);
    const toOthers = relay.slack.messages.slice(before).filter(({ userId }) => userId !== MIRA);
    expect([await recorded(), JSON.stringify(toOthers)].join('\n')).not.toContain(CANARY);
  });
});

/** A private text in place of a code or a number, or within a text that resembles a code. */
const CODE = 'salary-91000';
const refusing = (challenge: string) => () =>
  new Response(null, { status: 403, headers: { 'www-authenticate': `Bearer ${challenge}` } });
const token = { access_token: 'an-access-token', token_type: 'bearer', expires_in: 3_600 };

describe.each([`log 1h ${CHECKOUT}`, 'find checkout'])(
  'a private text of the instance in place of a code, for %s',
  (typed) => {
    const renewal = (error: string) => () => json({ error, error_description: CANARY }, 400);
    const supported = { code: -32602, message: CANARY, data: { supported: [CODE] } };
    it.each<[string, string, (id: number) => Response]>([
      ['an unknown error of a renewal', '/oauth/token', renewal(CODE)],
      ['the words of a refused renewal', '/oauth/token', renewal('invalid_grant')],
      ['the words of a delayed renewal', '/oauth/token', renewal('slow_down')],
      ['the scopes of a renewed link', '/oauth/token', () => json({ ...token, scope: `mcp:use ${CODE}` })],
      ['the error of a challenge', 'tools/list', refusing(`error="${CODE}", error_description="${CANARY}"`)],
      ['a refusal for good', 'tools/list', refusing(`error="invalid_token", error_description="${CANARY}"`)],
      [
        'the scopes of a challenge',
        'tools/list',
        refusing(`error="insufficient_scope", scope="${CODE} mcp:tasks.read"`),
      ],
      ['a revision', 'initialize', (id) => json({ id, result: { protocolVersion: CODE } })],
      ['revisions', 'initialize', (id) => json({ id, error: supported })],
      ['an error of a list', 'tools/list', (id) => json({ id, error: { code: -32602, message: CANARY } })],
    ])('is in no record: %s', async (_, where, answer) => {
      relay.clock.now += 2 * 3_600_000;
      answeringAt = (at, id) => (at === where ? answer(id) : undefined);
      await command(relay, typed);
      await relay.work();
      expect(await recorded()).not.toMatch(/salary.91/);
      await relay.workToTheEnd();
      const all = await recorded();
      expect(all).not.toMatch(/salary.91/);
      expect(all).toContain('main');
    });
  },
);
