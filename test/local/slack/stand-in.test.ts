import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startSlackThatFails } from '../../slack-that-fails.ts';
import {
  actions,
  botToken,
  button,
  call,
  commandLine,
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
  it.each([
    ['no token', {}, 'not_authed'],
    ['another token', { authorization: 'Bearer xoxb-other' }, 'invalid_auth'],
  ])('with %s is refused', async (_, headers, error) => {
    const { slack } = await startAtNoon();
    const body = form({ channel: general, text: 'Hello' });
    expect(await send(slack, 'chat.postMessage', { headers, body })).toMatchObject({ error });
    expect([slack.messages, slack.calls]).toEqual([[], [{ method: 'chat.postMessage', at: noon }]]);
  });

  it.each([
    ['chat.delete', {}, 'unknown_method'],
    ['toString', {}, 'unknown_method'],
    ['chat.postMessage', { text: 'a', channel: '' }, 'invalid_arguments'],
    ['chat.postMessage', { text: 'a', channel: 'C0NOWHERE' }, 'channel_not_found'],
    ['chat.postMessage', { text: 'a', channel: 'C0PRIVATE' }, 'not_in_channel'],
    ['chat.postMessage', { text: 'a', channel: 'U0GONE001' }, 'channel_not_found'],
    ['chat.postMessage', { text: '', channel: general }, 'no_text'],
    ['chat.postMessage', { text: x(40_001), channel: general }, 'msg_too_long'],
    ['chat.postMessage', { channel: general, blocks: many(5, () => section(x(2401))) }, 'msg_blocks_too_long'],
    ['chat.postMessage', { channel: general, blocks: 'nonsense' }, 'invalid_blocks_format'],
    ['chat.postMessage', { channel: general, blocks: [{ type: 'divider' }] }, 'invalid_blocks'],
    ['chat.postMessage', { text: 'a', channel: general, metadata: {} }, 'invalid_metadata_format'],
    ['users.info', { user: 'U0STRANGER' }, 'user_not_found'],
    ['usergroups.users.list', { usergroup: 'S0NONE' }, 'no_such_subteam'],
    ['conversations.open', { users: 'U0STRANGER' }, 'user_not_found'],
    ['conversations.open', { users: 'U0GONE001' }, 'user_disabled'],
    ['conversations.history', { channel: 'C0NOWHERE' }, 'channel_not_found'],
    ['conversations.history', { channel: general, cursor: 'nonsense' }, 'invalid_cursor'],
  ])('of %s with %j is refused with %s', async (method, fields, error) => {
    const { slack } = await startAtNoon();
    expect(await call(slack, method, fields)).toMatchObject({ ok: false, error });
    expect(slack.messages).toEqual([]);
  });

  it('a message to a person goes to the direct conversation with that person', async () => {
    const { slack } = await startAtNoon();
    const { channel } = (await call(slack, 'conversations.open', { users: mira })) as { channel: { id: string } };
    expect(await post(slack, { channel: mira, text: 'by the person' })).toMatchObject({
      ok: true,
      channel: channel.id,
    });
    expect(await post(slack, { channel: channel.id, text: 'by the channel' })).toMatchObject({ ok: true });
    expect(slack.messages).toMatchObject(many(2, () => ({ kind: 'message', channel: channel.id, userId: mira })));
  });
});

describe('a modal', () => {
  it.each([
    ['after 3 seconds', 3000, { ok: true }],
    ['later', 3001, { ok: false, error: 'expired_trigger_id' }],
  ])('opens by a trigger %s', async (_, afterMs, answer) => {
    const { slack, time } = await startAtNoon();
    const trigger_id = slack.makeTriggerId(mira);
    time.now += afterMs;
    expect(await call(slack, 'views.open', { trigger_id, view: modal([section()]) })).toMatchObject(answer);
  });

  it('a trigger opens one modal, and a refused attempt does not use it up', async () => {
    const { slack } = await startAtNoon();
    const trigger_id = slack.makeTriggerId(mira);
    const view = modal([section()]);
    expect(await call(slack, 'views.open', { trigger_id, view: {} })).toMatchObject({ error: 'invalid_arguments' });
    expect(await call(slack, 'views.open', { trigger_id, view })).toMatchObject({ ok: true });
    expect(await call(slack, 'views.open', { trigger_id, view })).toMatchObject({ error: 'exchanged_trigger_id' });
  });

  it('a modal is updated with the right hash, or by its external id', async () => {
    const { slack } = await startAtNoon();
    const { view } = (await open(slack, modal([section('first')], { external_id: 'mine' }))) as {
      view: { id: string; hash: string };
    };
    const { id: view_id, hash } = view;
    const second = modal([section('second')], { external_id: 'mine' });
    expect(await call(slack, 'views.update', { view_id, hash, view: second })).toMatchObject({ ok: true });
    expect(await call(slack, 'views.update', { view_id, hash, view: second })).toMatchObject({
      error: 'hash_conflict',
    });
    const third = modal([section('third')], { external_id: 'mine' });
    expect(await call(slack, 'views.update', { external_id: 'mine', view: third })).toMatchObject({ ok: true });
    expect(await call(slack, 'views.update', { external_id: 'gone', view: third })).toMatchObject({
      error: 'not_found',
    });
    expect(slack.views).toMatchObject([
      { view: third, userId: mira, replaced: [{ blocks: [section('first')] }, second] },
    ]);
  });
});

describe('the history of a conversation', () => {
  it('the history comes in pages, the newest first, and is complete', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 4 }), async (count, limit) => {
        const slack = await startSlackThatFails({ clock: () => noon, botToken });
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
});

describe('a response URL', () => {
  const toCommand = { userId: mira, channelId: general };

  it('of a command posts anew, and of a button can replace the message', async () => {
    const { slack, time } = await startAtNoon();
    const before = { text: 'Log the rest?', blocks: [actions(button())] };
    const { ts } = await post(slack, before);
    const [source] = slack.messages;
    time.now += 1000;
    const ofButton = slack.makeResponseUrl({ ...toCommand, source });
    await respond(ofButton, { text: 'Logged', replace_original: true });
    await respond(ofButton, { text: 'Beside it' });
    await respond(slack.makeResponseUrl(toCommand), { text: 'Done', replace_original: true });
    expect(slack.messages).toEqual([
      { kind: 'message', channel: general, ts, text: 'Logged', at: noon + 1000 },
      expect.objectContaining({ kind: 'ephemeral', userId: mira, text: 'Beside it' }),
      expect.objectContaining({ kind: 'ephemeral', userId: mira, text: 'Done' }),
    ]);
  });
});

describe('the command line', () => {
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
});
