import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Runtime } from '../../lib/runtime.ts';
import { functionUrlEvent } from '../../local/http-front.ts';
import { TEAM_ID } from '../../local/slack/workspace.ts';
import { functionsOf } from '../../local/world/functions.ts';
import { watchTable } from '../console/table-calls.ts';
import { SIGNING_SECRET, startRelay, type TestRelay } from '../relay.ts';
import { command, commandForm, interact, MIRA, postToSlack, slackSignature } from '../slack-requests.ts';

const FORM = 'application/x-www-form-urlencoded';

/** Calls the function as a function URL does: form bodies are in Base64, bodies of a text type are not. */
const handle = (runtime: Runtime, body: Uint8Array, headers: Record<string, string>) =>
  functionsOf(() => runtime).take({ url: '/slack', headers, body });

/** The headers with which Slack signs these bytes. */
const signedHeaders = (body: Uint8Array | string, timestamp: string) => ({
  'content-type': FORM,
  'x-slack-request-timestamp': timestamp,
  'x-slack-signature': slackSignature(body, timestamp),
});

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

describe('the signature', () => {
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  const published = {
    timestamp: '1531420618',
    signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  };
  const { timestamp, signature } = published;
  const bytes = Buffer.from(published.body);

  beforeEach(() => {
    relay.clock.now = Number(timestamp) * 1000;
  });

  const post = async (body: Uint8Array, timestamp: string | undefined, signature: string | undefined) => {
    const headers = {
      'content-type': FORM,
      ...(timestamp !== undefined && { 'x-slack-request-timestamp': timestamp }),
      ...(signature !== undefined && { 'x-slack-signature': signature }),
    };
    return (await fetch(relay.slackUrl, { method: 'POST', headers, body: body as Buffer<ArrayBuffer> })).status;
  };
  const signedAt = (timestamp: string) => post(bytes, timestamp, slackSignature(bytes, timestamp));

  it("Slack's published example has a valid signature", async () => {
    expect(await post(bytes, timestamp, signature)).toBe(200);
  });

  it.each([
    ['of another version', signature.replace('v0=', 'v1=')],
    ['without its version', signature.slice(3)],
    ['in uppercase', signature.toUpperCase()],
    ['with its digits in uppercase', `v0=${signature.slice(3).toUpperCase()}`],
    ['cut', signature.slice(0, -1)],
    ['under an empty secret', slackSignature(bytes, timestamp, '')],
    ['empty', ''],
    ['missing', undefined],
  ])('a signature is refused %s', async (_, given) => {
    expect(await post(bytes, timestamp, given)).toBe(401);
  });

  it('a changed bit in body, timestamp or signature is refused', async () => {
    const flipped = (text: Uint8Array, at: number, bit: number) => {
      const copy = Buffer.from(text);
      copy[at] = (copy[at] ?? 0) ^ (1 << bit);
      return copy;
    };
    // Changes only the lowest four bits, because other bits would make a header that no client can send.
    const ofHeader = (value: string, at: number, bit: number) =>
      flipped(Buffer.from(value), at % value.length, bit % 4).toString('latin1');
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
        expect(await post(flipped(bytes, at, bit), timestamp, signature)).toBe(401);
        expect(await post(bytes, ofHeader(timestamp, at, bit), signature)).toBe(401);
        expect(await post(bytes, timestamp, ofHeader(signature, at, bit))).toBe(401);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['five minutes old', 300, 200],
    ['a second older', 301, 401],
    ['five minutes in the future', -300, 200],
    ['a second further', -301, 401],
    ['hours old', 86_400, 401],
  ])('a request that is too old or too new is refused: %s', async (_, seconds, status) => {
    expect(await signedAt(String(Number(timestamp) - seconds))).toBe(status);
  });

  it.each([
    ...['', 'now', '-1531420618', '1531420618.0', '1.531420618e9', '0x5b47908a', '1531420618000', 'NaN', 'Infinity'],
  ])('a timestamp that is not whole seconds is refused: "%s"', async (given) => {
    expect(await signedAt(given)).toBe(401);
  });

  it('a request without a timestamp is refused', async () => {
    expect(await post(bytes, undefined, signature)).toBe(401);
  });

  it.each([
    ['Base64', FORM, true],
    ['text', 'text/plain', false],
  ])('the signature covers the bytes of a body that comes as %s', async (_, contentType, isBase64Encoded) => {
    const body = Buffer.from(commandForm(relay, 'find Zażółć 🦆 “ü”').toString());
    const headers = { ...signedHeaders(body, timestamp), 'content-type': contentType };
    expect(functionUrlEvent({ method: 'POST', headers }, '/', body)).toMatchObject({ isBase64Encoded });
    expect(await handle(relay.runtime, body, headers)).toMatchObject({ statusCode: 200 });
    expect((await relay.jobs()).at(-1)?.summary).toBe(`${MIRA}: find Zażółć 🦆 “ü”`);
    expect(await handle(relay.runtime, Buffer.concat([body, Buffer.from(' ')]), headers)).toMatchObject({
      statusCode: 401,
    });
  });
});

it('both signing secrets are valid for a day after a rotation, then only the new one', async () => {
  const signedWith = async (secret: string) => (await postToSlack(relay, 'ssl_check=1', { secret })).status;
  expect(await signedWith(SIGNING_SECRET)).toBe(200);
  expect(await signedWith('the next one')).toBe(401);
  relay.clock.now += 61_000;
  relay.stack.secrets.put(`${relay.stack.secretPrefix}slack`, { signingSecret: 'the next one' });
  expect(await signedWith('the next one')).toBe(200);
  expect(await signedWith(SIGNING_SECRET)).toBe(200);
  relay.clock.now += 86_400_001;
  expect(await signedWith(SIGNING_SECRET)).toBe(401);
  expect(await signedWith('the next one')).toBe(200);
});

describe('a request', () => {
  const itemsInTable = async () =>
    (await new DynamoDBClient({}).send(new ScanCommand({ TableName: relay.runtime.environment.TABLE_NAME }))).Count;

  it.each([
    ['a certificate check', 'ssl_check=1&token=deprecated', 200],
    ['an invalid certificate check', 'ssl_check=0&token=deprecated', 401],
    ['a command beside a certificate check', 'ssl_check=1&command=%2Fpm&text=done+101', 401],
    ['an interaction beside a certificate check', 'payload=%7B%7D&ssl_check=1', 401],
  ])('is not carried out without a signature: %s', async (_, body, statusCode) => {
    const answer = await handle(relay.runtime, Buffer.from(body), { 'content-type': FORM });
    expect(answer).toMatchObject({ statusCode });
    expect(await relay.jobs()).toEqual([]);
  });

  it('a request that cannot be stored is answered 500 without a secret', async () => {
    const runtime = { ...relay.runtime, environment: { ...relay.runtime.environment, TABLE_NAME: 'no-such-table' } };
    const body = Buffer.from(commandForm(relay, 'done 101').toString());
    expect(await handle(runtime, body, signedHeaders(body, String(relay.clock.now / 1000)))).toMatchObject({
      statusCode: 500,
      body: expect.stringContaining('could not be stored'),
    });
    expect(await relay.jobs()).toEqual([]);
  });

  it('a request is answered 404 if relay.config.ts has no slack', async () => {
    const { slack: _, ...config } = relay.runtime.config;
    const body = Buffer.from('ssl_check=1');
    const headers = signedHeaders(body, String(relay.clock.now / 1000));
    expect(await handle({ ...relay.runtime, config }, body, headers)).toMatchObject({ statusCode: 404 });
  });

  it.each([
    ["Slack's look at the certificate", 'ssl_check=1&token=deprecated'],
    ['a modal that was closed', payload({ type: 'view_closed', view: { id: 'V1' } })],
    ['a payload behind a byte order mark', `payload=${encodeURIComponent('\ufeff{"type":"view_closed"}')}`],
    ['a global shortcut', payload({ type: 'shortcut', callback_id: 'anything' })],
    ['a type of tomorrow', payload({ type: 'block_hologram' })],
  ])('a request without an action gets an empty answer: %s', async (_, body) => {
    expect(await postToSlack(relay, body)).toMatchObject({ status: 200, body: '' });
    expect(await itemsInTable()).toBe(0);
    expect(relay.slack.calls).toEqual([]);
  });

  const unreadable: [string, string | Uint8Array, RegExp][] = [
    ['nothing', '', /the command has missing or invalid fields/],
    ['no form', 'Hello, World!', /the command has missing or invalid fields/],
    ['JSON', '{"command":"/pm"}', /the command has missing or invalid fields/],
    ['no UTF-8', Uint8Array.of(0xff, 0xfe, 0x00), /the command has missing or invalid fields/],
    ['a command without who and where', 'command=%2Fpm&text=help', /trigger_id, user_id, channel_id, response_url/],
    ['a payload that is no JSON', 'payload=nonsense', /not JSON/],
    ['a payload that is no object', 'payload=%5B%5D', /the interaction has missing or invalid fields/],
    ['a button press without its button', payload({ type: 'block_actions', user: { id: MIRA } }), /the block_actions/],
    ['a button of somebody else', payload(buttonPress('vote', 'yes')), /does not belong to Partner Relay/],
    ['a button that holds something else', payload(buttonPress('run-command', 'something')), /button run-command/],
    ['a modal without values', payload({ type: 'view_submission', view: {} }), /the view_submission has missing/],
    ['a modal of somebody else', payload(submission('survey', '{}')), /does not belong to Partner Relay/],
    ['a modal that remembers nothing', payload(submission('defect', '')), /private_metadata/],
    ['a message shortcut of somebody else', payload(messageAction('survey')), /does not belong to Partner Relay/],
  ];

  it.each(unreadable)('an invalid form is answered 400 after verification: %s', async (_, body, reason) => {
    await command(relay, 'help');
    const before = [await itemsInTable(), relay.slack.calls.length];
    const unsigned = await postToSlack(relay, body, { signature: `v0=${'0'.repeat(64)}` });
    expect(unsigned).toMatchObject({ status: 401, body: expect.stringMatching(/X-Slack-Signature does not match/) });
    const signed = await postToSlack(relay, body);
    expect(signed).toMatchObject({ status: 400, body: expect.stringMatching(reason) });
    expect([await itemsInTable(), relay.slack.calls.length]).toEqual(before);
  });

  it.each(['0', '1'])('a signed command with ssl_check=%s is carried out', async (value) => {
    const form = commandForm(relay, 'help');
    form.set('ssl_check', value);
    expect((await postToSlack(relay, form.toString())).body).toContain('/pm done');
  });

  it('a repeated request makes one job and gets the same answer', async () => {
    const body = commandForm(relay, 'done 101').toString();
    const [first, again] = [await postToSlack(relay, body), await postToSlack(relay, body)];
    expect(first).toMatchObject({ status: 200, text: expect.stringContaining('Working on it') });
    expect(again).toEqual(first);
    await relay.work();
    expect(await postToSlack(relay, body)).toEqual(first);
    expect(await relay.jobs()).toHaveLength(1);
    await relay.work();
    expect(relay.slack.messages).toHaveLength(1);
  });
});

describe('a form', () => {
  beforeEach(() => {
    relay.clock.now += 1_000;
  });
  const heard = async () => (await relay.jobs()).at(-1)?.input.text;

  // Slack escapes `&`, `<` and `>`: https://docs.slack.dev/interactivity/implementing-slash-commands
  it.each([
    ['a blank as +', 'find+two+words', 'two words'],
    ['a blank as %20', 'find%20two%20words', 'two words'],
    ['a plus as %2B', 'find+C%2B%2B', 'C++'],
    ['a percent sign', 'find+100%25', '100%'],
    ['an ampersand between fields', 'find+this%26text%3Dthat', 'this&text=that'],
    ['emoji', 'find+%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB+%F0%9F%A6%86', '👩‍💻 🦆'],
    ['emoji that are not encoded', 'find+👩‍💻+🦆', '👩‍💻 🦆'],
    ['combining characters', 'find+e%CC%81t%C3%A9', 'e\u0301té'],
    ['right to left', 'find+%D7%A9%D7%9C%D7%95%D7%9D', 'שלום'],
    ['broken UTF-8', 'find+%E9%FF', '\ufffd\ufffd'],
    ['no-break blanks', 'find%C2%A0two%C2%A0%C2%A0words', 'two words'],
    ['smart quotes around the whole', 'find+%E2%80%9Ctwo+words%E2%80%9D', 'two words'],
    ['escaped signs', 'find+a+%26amp%3B+b+%26lt%3Bc%26gt%3B', 'a & b <c>'],
    ['signs that were typed as if escaped', 'find+%26amp%3Blt%3B', '&lt;'],
    ['a link that Slack made', 'find+%3Chttps%3A%2F%2Fexample.com%2F1%7Ccart%3E', 'cart (https://example.com/1)'],
    ['mentions', 'find+%3C%40U0MIRA001%7Cmira%3E+%3C%23C0GENERAL%7Cgeneral%3E+%3C%21here%3E', 'mira #general @here'],
  ])('a form is parsed as Slack encodes it: %s', async (_, typed, text) => {
    const form = commandForm(relay, '').toString();
    expect(form).toContain('&text=&');
    await postToSlack(relay, form.replace('&text=&', `&text=${typed}&`));
    await relay.work();
    expect(await heard()).toBe(text);
  });

  it('a form may contain an interaction with any Unicode text', async () => {
    const press = buttonPress('run-command', JSON.stringify({ command: 'find a+b & 🦆', happened: 'press-1' }));
    await relay.work();
    expect((await interact(relay, press)).status).toBe(200);
    expect(await heard()).toBe('a+b & 🦆');
  });
});

function payload(json: object): string {
  return new URLSearchParams({ payload: JSON.stringify(json) }).toString();
}

function buttonPress(actionId: string, value: string): object {
  return {
    type: 'block_actions',
    team: { id: TEAM_ID },
    user: { id: MIRA },
    channel: { id: 'C0GENERAL' },
    trigger_id: '1.1.1',
    actions: [{ type: 'button', action_id: actionId, value }],
  };
}

function submission(callbackId: string, privateMetadata: string): object {
  const view = { id: 'V1', callback_id: callbackId, private_metadata: privateMetadata, state: { values: {} } };
  return { type: 'view_submission', team: { id: TEAM_ID }, user: { id: MIRA }, view };
}

function messageAction(callbackId: string): object {
  return {
    type: 'message_action',
    callback_id: callbackId,
    trigger_id: '1.1.1',
    user: { id: MIRA },
    channel: { id: 'C0GENERAL' },
    team: { id: TEAM_ID, domain: 'example' },
    message: { ts: '1.1', text: 'Hello' },
    response_url: 'https://hooks.slack.com/actions/1',
  };
}

it('a request without a valid signature makes no call of the table, not even in a new process', async () => {
  const table = watchTable();
  const headers = { 'x-slack-request-timestamp': String(relay.clock.now / 1000), 'x-slack-signature': 'v0=00' };
  expect((await fetch(relay.slackUrl, { method: 'POST', headers, body: 'payload={}' })).status).toBe(401);
  expect(table.calls).toEqual([]);
  table.close();
});

it('a process that Lambda starts reads the workspace, and its first command reads once who the person is and what they did', async () => {
  relay = await startRelay({ environment: { AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' } });
  await command(relay, 'done 101');
  const table = watchTable();
  const body = commandForm(relay, 'done 102').toString();
  const headers = signedHeaders(body, String(relay.clock.now / 1000));
  expect(await handle(relay.runtime, Buffer.from(body), headers)).toMatchObject({ statusCode: 200 });
  // The read of the workspace also brings the time. Then the turn and the job are written.
  expect(table.calls.map(({ action }) => action)).toEqual(['GetItem', 'GetItem', 'GetItem', 'PutItem', 'PutItem']);
  table.close();
});
