import fc from 'fast-check';
import { github, token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { describe, expect, it } from 'vitest';
import { runRelayOf } from '../cli/run-command.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { githubSignature } from '../requests.ts';

let relay: TestRelay;

const published = { action: 'published', repository: { full_name: 'Codertocat/Hello-World' } };
const release = (job: () => unknown, run: (input: { x?: unknown }) => void = () => {}) => ({
  on: github('release.published', { input: { x: z.optional(z.unknown()) }, job: job as never }),
  run: async (input: { x?: unknown }) => {
    run(input);
    return 'done';
  },
});
const draft = (rest: object) => () => ({ happened: [1], input: {}, ...rest });
const input = (x: unknown) => draft({ input: { x } });
const SECRET = 'words of the payload';
/** An object with a getter that throws at its nth read. */
const throwsAt = (time: number, name: string, rest: object = {}) => {
  let read = 0;
  const get = () => {
    if (++read === time) throw new Error(SECRET);
    return 'fine';
  };
  return Object.defineProperty({ ...rest }, name, { get, enumerable: true });
};
const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`);

describe('the drafts that `job` returns', () => {
  it.each<[string, () => unknown, string]>([
    ['a Date', input(new Date(0)), 'input.x is a Date, which is not kept; convert it to a text'],
    ['a URL', input({ at: [new URL('https://a.example')] }), 'input.x.at.0 is a URL'],
    ['a Map', input(new Map([[SECRET, 1]])), 'input.x is a Map'],
    ['an empty Set', input(new Set()), 'input.x is a Set'],
    ['a function', input(() => SECRET), 'input.x is a function'],
    ['1e200', input(1e200), 'input.x is a number beyond 2^53'],
    ['1e-200', input(1e-200), 'input.x is a number below 1e-130'],
    ['40 levels', input(deep), 'a value of more than 20 levels'],
    ['a list with a gap', input(new Array(2)), 'input.x is a list with undefined'],
    ['an empty name', input({ '': SECRET }), "input.x is a record with the name ''"],
    ['a name of every object', input({ constructor: SECRET }), "a record with the name 'constructor'"],
    ['half a character', input(`${SECRET}\ud800`), 'input.x is a text that is cut within a character'],
    [
      'half a character in a name',
      input([{ '\ud800': SECRET }]),
      'input.x.0 is a record with a name cut within a character',
    ],
    ['a title that is cut', draft({ title: `${SECRET}\ud800` }), 'title is a text that is cut within a character'],
    ['a title without words', draft({ title: ' ' }), 'title is not a text, or is empty'],
    ['a title of two', draft({ title: [SECRET] }), 'title is not a text'],
    ['an entity that is cut', draft({ entity: `${SECRET}\ud800` }), 'entity is a text that is cut within a character'],
    ['an id that is cut', draft({ happened: ['\udc00'] }), 'happened.0 is a text that is cut within a character'],
    ['a getter that throws', () => throwsAt(1, 'entity', { happened: [1], input: {} }), 'Error at automations/aaa.ts'],
    ['an input whose getter throws', () => input(throwsAt(1, 'at'))(), 'Error at automations/aaa.ts'],
    ['an input whose getter throws later', () => input(throwsAt(2, 'at'))(), 'Error at automations/aaa.ts'],
    ['9 KB', input(SECRET.repeat(500)), 'the input of a job has 10008 bytes; 8192 is the most'],
    ['names that no field has', input({ [`${SECRET}@a.example`]: 1n }), 'input.x.… is a bigint'],
    ['an entity that is no text', draft({ entity: 42 }), 'entity is not a text of 1 to 600 characters'],
    ['a long entity', draft({ entity: SECRET.repeat(40) }), 'entity is not a text of 1 to 600 characters'],
    ['no input', () => ({ happened: [1] }), 'the input of a job is not as the file declares it: the whole'],
    ['an id beyond 2^53', draft({ happened: [1, 2 ** 53] }), 'happened.1 is a number beyond 2^53'],
    ['an id that is missing', draft({ happened: [undefined] }), 'happened is a list with undefined'],
    ['an empty id', draft({ happened: [''] }), 'happened.0 is neither a text nor a number'],
    ['a time in nanoseconds', draft({ at: 1.7636e18 }), 'at is not a time'],
    ['a time in words', draft({ at: SECRET }), 'at is not a time; write ISO 8601 or epoch milliseconds'],
    ['a time that is a number in a text', draft({ at: '1' }), 'at is not a time'],
    ['a promise', async () => ({ happened: [1], input: {} }), 'job returns neither a draft nor'],
    ['nothing', () => undefined, 'job returns neither a draft nor'],
  ])('affect only their file if they have %s, and its value is not shown', async (_, job, said) => {
    relay = await startRelay({ own: { aaa: release(job), bbb: release(draft({})) } });
    for (let delivery = 0; delivery < 2; delivery++) {
      expect(await relay.post('release', published)).toMatchObject({
        status: 500,
        answer: {
          error: 'automations/aaa.ts failed on this delivery; repair the file, then redeliver it, or send a new event',
        },
      });
    }
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ automation: 'bbb', status: 'succeeded' }]);
    const line = { message: 'automations/aaa.ts failed on an event', error: expect.stringContaining(said) };
    expect(relay.log).toContainEqual(expect.objectContaining(line));
    expect(relay.metrics).toContainEqual(expect.objectContaining({ OwnAutomationsFailed: 1 }));
    expect(JSON.stringify(relay.log)).not.toContain(SECRET);
  });

  it('may have a title, which is on one line in lists, and in no log', async () => {
    const title = `Complete ${SECRET}\nat \u202eonce ${'x'.repeat(200)}`;
    relay = await startRelay({ own: { aaa: release(draft({ title })) } });
    await relay.post('release', published);
    await relay.workToTheEnd();
    const shown = `Complete ${SECRET} at once ${'x'.repeat(200)}`.slice(0, 199);
    expect(await runRelayOf(relay, ['jobs', '--text', SECRET])).toContain(` ${shown}…`);
    expect(JSON.stringify(relay.log)).not.toContain(SECRET);
  });

  it('are read before their job is stored, and not again', async () => {
    relay = await startRelay({ own: { aaa: release(draft({ input: { x: throwsAt(3, 'at') } })) } });
    expect(await relay.post('release', published)).toMatchObject({ status: 202 });
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded', input: { x: { at: 'fine' } } }]);
  });

  it('reach `run` unchanged, whatever they contain, or are refused', async () => {
    let x: unknown;
    let id = 0;
    const ran: unknown[] = [];
    const file = release(
      () => ({ happened: [id], input: { x } }),
      (input) => ran.push(input.x),
    );
    relay = await startRelay({ own: { mine: file }, tableOnWire: true });
    const values = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        x = value;
        id++;
        ran.length = 0;
        const { status } = await relay.post('release', published);
        await relay.workToTheEnd();
        if (status === 202) expect(ran).toEqual([x === undefined ? undefined : JSON.parse(JSON.stringify(x))]);
        else expect([status, ran]).toEqual([500, []]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('an id beyond 2^53', () => {
  const ids = ['1234567890123456789', '1234567890123456790'];
  const verify = token({ header: 'x-token' });
  const run = async () => 'done';
  async function start(own: Record<string, { on: unknown; run: unknown }>) {
    relay = await startRelay({ own });
    const secrets = Object.keys(own).map((name) => [name, 'secret']);
    relay.stack.secrets.put(`${relay.stack.secretPrefix}hooks`, Object.fromEntries(secrets));
  }
  async function post(name: string, body: string) {
    const request = { method: 'POST', headers: { 'x-token': 'secret' }, body };
    const response = await fetch(new URL(`/hooks/${name}`, relay.url), request);
    return { status: response.status, answer: await response.json() };
  }

  it("keeps its digits in GitHub's payload, so that two events make two jobs", async () => {
    const on = github('release.published', {
      input: { id: z.union([z.string(), z.number()]) },
      job: ({ release: { id } }) => ({ happened: [id], input: { id } }),
    });
    relay = await startRelay({
      own: { mine: { on, run: async ({ id }: { id: unknown }) => `got ${typeof id} ${id}` } },
    });
    for (const id of [...ids, '42']) {
      const body = `{ "release": { "id": ${id} }, ${JSON.stringify(published).slice(1)}`;
      const headers = { 'x-github-event': 'release', 'x-github-delivery': id };
      const signed = { ...headers, 'x-hub-signature-256': githubSignature(body) };
      expect((await relay.postRaw(body, signed)).status).toBe(202);
    }
    await relay.workToTheEnd();
    const said = (await relay.jobs('succeeded')).map(({ outcome }) => outcome);
    expect(said.sort()).toEqual(['got number 42', ...ids.map((id) => `got string ${id}`)]);
  });

  it('of a webhook is a text, too, and a file that reads a number there fails with the name of the field', async () => {
    const file = (id: z.ZodMiniType<string | number>) => ({
      on: webhook({
        verify,
        body: z.object({ id }),
        input: { id },
        job: (body) => ({ happened: [body.id], input: body }),
      }),
      run,
    });
    await start({ text: file(z.string()), number: file(z.number()) });
    const withId = (name: string, id: string) => post(name, `{ "id" : ${id} }`);
    for (const id of ids) expect(await withId('text', id)).toMatchObject({ answer: { repeat: false } });
    expect((await withId('number', '9007199254740991')).status).toBe(200);
    expect((await withId('number', '-9007199254740993')).status).toBe(500);
    const error = 'Error: a number beyond 2^53 comes as a text of its digits; read it as a text: id';
    expect(relay.log).toContainEqual(expect.objectContaining({ error }));
  });

  it.each<[string, z.ZodMiniType<unknown>, number]>([
    ['null too', z.union([z.number(), z.null()]), 500],
    ['a record too', z.union([z.object({ id: z.number() }), z.number()]), 500],
    ['another event', z.literal('closed'), 200],
  ])('of a webhook is a mistake of a file that takes %s only if there is no other mistake', async (_, id, status) => {
    const on = webhook({
      verify,
      body: z.object({ id, type: z.optional(z.literal('opened')) }),
      input: {},
      job: () => ({ happened: [1], input: {} }),
    });
    await start({ mine: { on, run } });
    const statusOf = async (body: string) => (await post('mine', body)).status;
    expect(await statusOf('{"id":9007199254740993}')).toBe(status);
    expect(await statusOf('{"id":9007199254740993,"type":"other"}')).toBe(200);
    // The sender's body has the number as a text, so it is not a number beyond 2^53.
    expect(await statusOf('{"id":"4242424242424242"}')).toBe(200);
  });
});
