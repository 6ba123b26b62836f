import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startSlackStandIn } from '../../../local/slack/stand-in.ts';
import { seed } from '../../../sandbox/seed.ts';
import {
  actions,
  bearer,
  botToken,
  button,
  call,
  commandLine,
  type Fields,
  form,
  general,
  many,
  mira,
  modal,
  noon,
  open,
  post,
  respond,
  section,
  send,
  startAtNoon,
  x,
} from './stand-in-at-noon.ts';

describe('a call', () => {
  const json = 'application/json; charset=utf-8';
  const body = JSON.stringify({ channel: general, text: 'Hello' });
  const formBody = form({ channel: general, text: 'Hello' }).toString();
  const formType = 'application/x-www-form-urlencoded';

  it.each([
    ['a form', { 'content-type': formType }, formBody, { ok: true }],
    [
      'a form with a charset',
      { 'content-type': `${formType};charset=UTF-8` },
      formBody,
      { warning: 'superfluous_charset' },
    ],
    ['JSON', { 'content-type': json }, body, { ok: true }],
    ['JSON without charset', { 'content-type': 'application/json' }, body, { ok: true, warning: 'missing_charset' }],
    [
      'a charset that is not',
      { 'content-type': 'application/json; charset=utf8mb4' },
      body,
      { error: 'invalid_charset' },
    ],
    ['JSON that is not', { 'content-type': json }, 'nonsense', { error: 'invalid_json' }],
    ['JSON that is a list', { 'content-type': json }, '[]', { error: 'json_not_object' }],
    ['another type', { 'content-type': 'text/xml' }, '<a/>', { error: 'invalid_post_type' }],
    ['no token', { authorization: '', 'content-type': json }, body, { error: 'not_authed' }],
    ['another token', { authorization: 'Bearer xoxb-other', 'content-type': json }, body, { error: 'invalid_auth' }],
    ['another scheme', { authorization: `Basic ${botToken}`, 'content-type': json }, body, { error: 'not_authed' }],
    [
      'its token in JSON',
      { authorization: '', 'content-type': json },
      JSON.stringify({ token: botToken, channel: general, text: 'Hello' }),
      { error: 'not_authed' },
    ],
    [
      'its token in a form',
      { authorization: '', 'content-type': formType },
      `${formBody}&token=${botToken}`,
      { ok: true },
    ],
  ])('with %s', async (_, headers, body, answer) => {
    const { slack } = await startAtNoon();
    expect(await send(slack, 'chat.postMessage', { headers: { ...bearer, ...headers }, body })).toMatchObject(answer);
    expect(slack.messages).toHaveLength('error' in answer ? 0 : 1);
    expect(slack.calls).toEqual([{ method: 'chat.postMessage', at: noon }]);
  });

  it('a call without a content type is refused', async () => {
    const { slack } = await startAtNoon();
    const body = Buffer.from(formBody);
    expect(await send(slack, 'chat.postMessage', { headers: bearer, body })).toMatchObject({
      error: 'missing_post_type',
    });
  });

  it('a call with its token in the query is refused', async () => {
    const { slack } = await startAtNoon();
    expect(await send(slack, `auth.test?token=${botToken}`, {})).toMatchObject({ error: 'not_authed' });
  });

  it.each(['chat.delete', 'toString', ''])('of %s is of an unknown method', async (method) => {
    const { slack } = await startAtNoon();
    expect(await call(slack, method)).toEqual({ ok: false, error: 'unknown_method' });
  });

  it('a call without arguments needs no body', async () => {
    const { slack } = await startAtNoon();
    expect(await send(slack, 'auth.test', { headers: bearer })).toMatchObject({ ok: true, user: 'partner-relay' });
  });

  it.each([
    [
      'users.info',
      { user: mira },
      { ok: true, user: { profile: { email: 'mira.novak@example.com' } } },
      'user_not_found',
    ],
    ['usergroups.users.list', { usergroup: 'S0PLATFORM' }, { ok: true, users: [mira, 'U0TOMASZ1'] }, 'no_such_subteam'],
    ['conversations.history', { channel: general }, { ok: true, messages: [] }, 'invalid_arguments'],
  ])('of %s takes its arguments from a query or a form, but not from JSON', async (method, fields, answer, error) => {
    const { slack } = await startAtNoon();
    const headers = { ...bearer, 'content-type': json };
    expect(await call(slack, method, fields)).toMatchObject(answer);
    expect(await send(slack, `${method}?${form(fields)}`, { method: 'GET', headers: bearer })).toMatchObject(answer);
    expect(await send(slack, method, { headers, body: JSON.stringify(fields) })).toMatchObject({ ok: false, error });
  });

  it.each([
    ['users.info', { user: 'U0STRANGER' }, 'user_not_found'],
    ['usergroups.users.list', { usergroup: 'S0NONE' }, 'no_such_subteam'],
    ['conversations.open', {}, 'users_list_not_supplied'],
    ['conversations.open', { users: 'U0STRANGER' }, 'user_not_found'],
    ['conversations.open', { users: 'U0GONE001' }, 'user_disabled'],
    ['conversations.open', { users: `${mira},U0TOMASZ1` }, 'not_in_stand_in'],
    ['conversations.open', { channel: general }, 'channel_not_found'],
    ['conversations.history', { channel: 'C0NOWHERE' }, 'channel_not_found'],
    ['conversations.history', { channel: 'C0PRIVATE' }, 'not_in_channel'],
    ['conversations.history', { channel: general, cursor: 'nonsense' }, 'invalid_cursor'],
    ['conversations.history', { channel: general, oldest: 'yesterday' }, 'invalid_ts_oldest'],
    ['conversations.history', { channel: general, latest: 'today' }, 'invalid_ts_latest'],
  ])('of %s with %j is refused with %s', async (method, fields, error) => {
    const { slack } = await startAtNoon();
    expect(await call(slack, method, fields)).toMatchObject({ ok: false, error });
  });
});

describe('the people', () => {
  it('the people are three users of the sandbox, one unknown to the service, and one who has left', async () => {
    const { slack } = await startAtNoon();
    const known = new Set(seed().users.map(({ email }) => email));
    const people = [...slack.users.values()];
    expect(people.map(({ email = '' }) => known.has(email))).toEqual([true, true, true, false, false]);
    expect(people.map(({ deleted = false }) => deleted)).toEqual([false, false, false, false, true]);
  });

  it('the people can be changed', async () => {
    const { slack } = await startAtNoon();
    slack.users.set('U0NEW0001', { id: 'U0NEW0001', name: 'New Person', tz: 'Asia/Tokyo', tz_offset: 32_400 });
    const { user } = await call(slack, 'users.info', { user: 'U0NEW0001' });
    expect(user).toMatchObject({ real_name: 'New Person', deleted: false, tz: 'Asia/Tokyo', tz_offset: 32_400 });
    expect(user).not.toHaveProperty('profile.email');
  });
});

describe('the history of a conversation', () => {
  const metadata = { event_type: 'reminder', event_payload: { day: '2026-11-20' } };

  it('the history comes in pages, the newest first, and is complete', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 4 }), async (count, limit) => {
        const slack = await startSlackStandIn({ clock: () => noon, botToken });
        const sent = many(count, (index) => `message ${index}`);
        for (const text of sent) await post(slack, { text });
        const found: unknown[] = [];
        for (let cursor: string | undefined = ''; cursor !== undefined; ) {
          const page = await call(slack, 'conversations.history', { channel: general, limit, cursor });
          const messages = page.messages as { text: string }[];
          expect(page.has_more).toBe(found.length + messages.length < count);
          found.push(...messages.map(({ text }) => text));
          cursor = (page.response_metadata as { next_cursor?: string } | undefined)?.next_cursor;
        }
        await slack.close();
        expect(found).toEqual(sent.toReversed());
      }),
      { numRuns: 15 },
    );
  });

  it('the history has metadata on request, and can start after a time', async () => {
    const { slack, time } = await startAtNoon();
    const { ts: oldest } = await post(slack, { text: 'first', metadata });
    time.now += 1000;
    const { ts: latest } = await post(slack, { text: 'second', metadata });
    await post(slack, { text: 'elsewhere', channel: mira });
    const history = async (fields: Fields) =>
      (await call(slack, 'conversations.history', { channel: general, ...fields })).messages as Fields[];
    expect(await history({})).toMatchObject([{ text: 'second' }, { text: 'first' }]);
    expect((await history({}))[0]).not.toHaveProperty('metadata');
    expect(await history({ oldest, include_all_metadata: true })).toMatchObject([{ text: 'second', metadata }]);
    expect(await history({ latest })).toMatchObject([{ text: 'first' }]);
    expect(await history({ oldest, latest })).toEqual([]);
    expect(await history({ oldest, latest, inclusive: true })).toHaveLength(2);
  });

  it('the history has public response_url messages and no ephemeral ones', async () => {
    const { slack } = await startAtNoon();
    const url = slack.makeResponseUrl({ kind: 'command', userId: mira, channelId: general });
    await respond(url, { text: 'for Mira' });
    await respond(url, { text: 'for all', response_type: 'in_channel' });
    const { messages } = await call(slack, 'conversations.history', { channel: general });
    expect(messages).toMatchObject([{ text: 'for all' }]);
    expect(slack.messages).toEqual([
      expect.objectContaining({ kind: 'ephemeral', userId: mira, text: 'for Mira' }),
      { kind: 'response', channel: general, ts: expect.any(String), text: 'for all', at: noon },
    ]);
  });
});

describe('a response URL', () => {
  const toCommand = { kind: 'command', userId: mira, channelId: general } as const;

  it('a response_url is valid for five messages', async () => {
    const { slack } = await startAtNoon();
    const url = slack.makeResponseUrl(toCommand);
    expect(await respond(url, { text: '' })).toEqual({ status: 400, body: 'no_text' });
    for (let use = 1; use <= 5; use += 1) {
      expect(await respond(url, { text: `${use}` })).toEqual({ status: 200, body: 'ok' });
    }
    expect(await respond(url, { text: '6' })).toEqual({ status: 404, body: '{"ok":false,"error":"used_url"}' });
    expect(slack.messages.map(({ text }) => text)).toEqual(['1', '2', '3', '4', '5']);
    expect(slack.calls).toHaveLength(7);
  });

  it('a response_url is valid for 30 minutes', async () => {
    const { slack, time } = await startAtNoon();
    const url = slack.makeResponseUrl(toCommand);
    time.now += 30 * 60_000;
    expect(await respond(url, { text: 'in time' })).toMatchObject({ status: 200 });
    time.now += 1;
    expect(await respond(url, { text: 'late' })).toEqual({ status: 404, body: '{"ok":false,"error":"expired_url"}' });
    expect(slack.messages).toMatchObject([{ kind: 'ephemeral', userId: mira, channel: general, text: 'in time' }]);
  });

  it('an unknown response_url is not found', async () => {
    const { slack } = await startAtNoon();
    expect(await respond(`${slack.url}/response/C0GENERAL/R1`, { text: 'a' })).toMatchObject({ status: 404 });
  });

  it.each([
    ['a list', [], 'no_text'],
    ['a text', 'Hello', 'invalid_payload'],
    ['a number as text', { text: 1 }, 'invalid_arguments'],
    ['wrong blocks', { text: 'a', blocks: [section('')] }, 'invalid_blocks'],
    ['blocks that are an object', { text: 'a', blocks: {} }, 'invalid_blocks'],
  ])('refuses %s', async (_, fields, error) => {
    const { slack } = await startAtNoon();
    const url = slack.makeResponseUrl(toCommand);
    expect(await respond(url, fields)).toEqual({ status: 400, body: error });
    expect(slack.messages).toEqual([]);
  });

  it.each([
    ['what is not JSON', 'application/json', 'nonsense'],
    ['JSON that is not called so', 'text/plain', '{"text":"a"}'],
  ])('refuses %s', async (_, type, body) => {
    const { slack } = await startAtNoon();
    const response = await fetch(slack.makeResponseUrl(toCommand), {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toBe('invalid_payload');
  });

  it('a response_url accepts more text in blocks than chat.postMessage', async () => {
    const { slack } = await startAtNoon();
    const url = slack.makeResponseUrl(toCommand);
    expect(await respond(url, { blocks: many(50, () => section(x(3000))) })).toMatchObject({ status: 200 });
  });

  it.each([true, 'true'])('of a command posts anew, also with replace_original %j', async (replace_original) => {
    const { slack } = await startAtNoon();
    const url = slack.makeResponseUrl(toCommand);
    await respond(url, { text: 'Working on it' });
    await respond(url, { text: 'Done', replace_original });
    expect(slack.messages).toMatchObject([
      { kind: 'ephemeral', text: 'Working on it' },
      { kind: 'ephemeral', text: 'Done' },
    ]);
  });

  it.each([true, 'true'])('of an action replaces its message with replace_original %j', async (replace_original) => {
    const { slack, time } = await startAtNoon();
    const metadata = { event_type: 'reminder', event_payload: {} };
    const before = { text: 'Log the rest?', blocks: [actions(button())], metadata };
    await post(slack, before);
    const [source] = slack.messages;
    if (!source) throw new Error('nothing went out');
    const { ts } = source;
    const url = slack.makeResponseUrl({ kind: 'action', userId: mira, channelId: general, source });
    time.now += 1000;
    await respond(url, { text: 'Logged', replace_original });
    await respond(url, { text: 'Beside it' });
    expect(slack.messages).toEqual([
      { kind: 'message', channel: general, ts, text: 'Logged', at: noon + 1000, replaced: [{ ...before, at: noon }] },
      expect.objectContaining({ kind: 'ephemeral', userId: mira, text: 'Beside it' }),
    ]);
    await respond(url, { text: 'Once more', replace_original });
    expect(source.replaced).toMatchObject([{ text: 'Log the rest?' }, { text: 'Logged' }]);
  });
});

describe('a failure', () => {
  it.each([
    ['an error', { kind: 'error', error: 'internal_error' }, 200, { ok: false, error: 'internal_error' }, 0],
    ['a rate limit', { kind: 'rate-limited', retryAfterSeconds: 7 }, 429, { ok: false, error: 'ratelimited' }, 0],
    ['an error of the server', { kind: 'server-error' }, 503, undefined, 0],
    ['an error of the server after the work', { kind: 'server-error', when: 'after work' }, 503, undefined, 1],
    ['a cut connection', { kind: 'cut' }, undefined, undefined, 0],
    ['a cut connection after the work', { kind: 'cut', when: 'after work' }, undefined, undefined, 1],
  ] as const)('%s befalls as many calls of the method as asked for', async (_, failure, status, answer, done) => {
    const { slack } = await startAtNoon();
    slack.fail({ method: 'chat.postMessage', times: 2, ...failure });
    expect(await call(slack, 'auth.test')).toMatchObject({ ok: true });
    for (let failed = 1; failed <= 2; failed += 1) {
      const response = await fetch(`${slack.url}/api/chat.postMessage`, {
        method: 'POST',
        headers: bearer,
        body: form({ channel: general, text: 'Hello' }),
      }).catch(() => undefined);
      expect(response?.status).toBe(status);
      if (answer) expect(await response?.json()).toEqual(answer);
      if (status === 429) expect(response?.headers.get('retry-after')).toBe('7');
      expect(slack.messages).toHaveLength(failed * done);
    }
    expect(await post(slack, { text: 'Hello' })).toMatchObject({ ok: true });
    expect(slack.messages).toHaveLength(2 * done + 1);
    expect(slack.calls.map(({ method }) => method)).toEqual(['auth.test', ...many(3, () => 'chat.postMessage')]);
  });

  it('a failure of response_urls is returned as a status, once each, in the requested order', async () => {
    const { slack } = await startAtNoon();
    slack.fail({ method: 'response_url', kind: 'error', error: 'expired_url' });
    slack.fail({ method: 'response_url', kind: 'rate-limited' });
    const url = slack.makeResponseUrl({ kind: 'command', userId: mira, channelId: general });
    expect(await respond(url, { text: 'a' })).toEqual({ status: 404, body: '{"ok":false,"error":"expired_url"}' });
    expect(await respond(url, { text: 'a' })).toMatchObject({ status: 429 });
    expect(await respond(url, { text: 'a' })).toMatchObject({ status: 200 });
  });
});

describe('the command line', () => {
  it('the command line gets sent messages in order of time', async () => {
    const { slack, time } = await startAtNoon();
    await open(slack, modal([section()]));
    time.now += 1;
    await post(slack, { text: 'first' });
    time.now += 1;
    await open(slack, modal([section('later')]));
    const response = await fetch(`${slack.url}/messages`, { headers: commandLine });
    expect(await response.json()).toEqual([
      { kind: 'view', ...slack.views[0] },
      slack.messages[0],
      { kind: 'view', ...slack.views[1] },
    ]);
  });

  it('the command line gets a response_url and a trigger for a command', async () => {
    const { slack } = await startAtNoon();
    const ask = (body: string) => fetch(`${slack.url}/response-url`, { method: 'POST', headers: commandLine, body });
    const { responseUrl, triggerId } = (await (
      await ask(JSON.stringify({ userId: mira, channelId: 'C0ANYWHERE' }))
    ).json()) as { responseUrl: string; triggerId: string };
    expect(await respond(responseUrl, { text: 'Hello', replace_original: true })).toMatchObject({ status: 200 });
    expect(await call(slack, 'views.open', { trigger_id: triggerId, view: modal([section()]) })).toMatchObject({
      ok: true,
    });
    expect(slack.messages).toMatchObject([{ channel: 'C0ANYWHERE', userId: mira, text: 'Hello' }]);
    expect((await ask('{"userId":"U0STRANGER","channelId":"C0"}')).status).toBe(404);
    expect((await ask('nonsense')).status).toBe(400);
  });

  it('an unknown path is answered 404', async () => {
    const { slack } = await startAtNoon();
    expect((await fetch(`${slack.url}/elsewhere`, { headers: commandLine })).status).toBe(404);
  });

  it.each([
    ['by another name', { ...commandLine, host: 'attacker.example' }],
    ['from a web page', { ...commandLine, origin: 'https://attacker.example' }],
    ['without the key', {}],
    ['with another key', { authorization: 'Bearer of-another-start' }],
  ])('is not answered %s', async (_, headers) => {
    const { slack } = await startAtNoon();
    const status = await new Promise((resolve, reject) => {
      httpRequest(`${slack.url}/messages`, { headers }, ({ statusCode }) => resolve(statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('ids never repeat those of an earlier start', async () => {
    const ids = async (at: number) => {
      const slack = await startSlackStandIn({ clock: () => at, botToken });
      const { view } = (await open(slack, modal([section()]))) as { view: { id: string; hash: string } };
      const url = slack.makeResponseUrl({ kind: 'command', userId: mira, channelId: general });
      const trigger = slack.makeTriggerId(mira);
      await slack.close();
      return [view.id, view.hash, new URL(url).pathname, trigger];
    };
    const [first, second] = [await ids(noon), await ids(noon + 60_000)];
    expect(new Set([...first, ...second]).size).toBe(8);
  });
});
