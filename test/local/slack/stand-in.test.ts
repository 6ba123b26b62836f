import { expect, it, onTestFinished } from 'vitest';
import { startSlackStandIn } from '../../../local/slack/stand-in.ts';
import { actions, button, input, many, modal, option, section, textInput } from './blocks.ts';

// No test of the relay can notice a mistake that the stand-in allows.

const botToken = 'xoxb-stand-in';
const channel = 'C0GENERAL';
const mira = 'U0MIRA001';

/**
 * The stand-in, with a clock that stands still, and a function that calls it with a form, in which objects are JSON.
 */
async function start() {
  const time = { now: Date.UTC(2026, 10, 20, 12) };
  const slack = await startSlackStandIn({ clock: () => time.now, botToken });
  onTestFinished(() => slack.close());
  const call = async (method: string, fields: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      body.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
    }
    const headers = { authorization: `Bearer ${botToken}` };
    const response = await fetch(`${slack.url}/api/${method}`, { method: 'POST', headers, body });
    return (await response.json()) as Record<string, unknown>;
  };
  return { slack, time, call };
}

const menu = (rest: object) => modal([input({ type: 'static_select', ...rest })]);

it.each([
  ['toString', {}, 'unknown_method'],
  ['chat.postMessage', { text: 'a', channel: '' }, 'invalid_arguments'],
  ['chat.postMessage', { text: 'a', channel: 'C0NOWHERE' }, 'channel_not_found'],
  ['chat.postMessage', { text: 'a', channel: 'C0PRIVATE' }, 'not_in_channel'],
  ['chat.postMessage', { text: 'a', channel: 'U0GONE001' }, 'channel_not_found'],
  ['chat.postMessage', { text: '', channel }, 'no_text'],
  ['chat.postMessage', { text: 'x'.repeat(40_001), channel }, 'msg_too_long'],
  ['chat.postMessage', { channel, blocks: many(5, () => section('x'.repeat(2401))) }, 'msg_blocks_too_long'],
  ['chat.postMessage', { channel, blocks: 'nonsense' }, 'invalid_blocks_format'],
  ['chat.postMessage', { channel, blocks: [section('x'.repeat(3001))] }, 'invalid_blocks'],
  ['chat.postMessage', { channel, blocks: many(2, () => section('a', { block_id: 'one' })) }, 'invalid_blocks'],
  ['chat.postMessage', { channel, blocks: [actions(...many(2, () => button({ action_id: 'a' })))] }, 'invalid_blocks'],
  ['chat.postMessage', { text: 'a', channel, metadata: {} }, 'invalid_metadata_format'],
  ['views.open', { view: modal([input()], { submit: undefined }) }, 'invalid_arguments'],
  ['views.open', { view: menu({}) }, 'invalid_arguments'],
  ['views.open', { view: menu({ options: [option('a')], initial_option: option('b') }) }, 'invalid_arguments'],
  ['views.open', { view: modal([input(textInput({ initial_value: 'x'.repeat(3001) }))]) }, 'invalid_arguments'],
  ['views.update', { external_id: 'gone', view: modal([section()]) }, 'not_found'],
  ['conversations.open', { users: 'U0GONE001' }, 'user_disabled'],
  ['conversations.history', { channel: 'C0NOWHERE' }, 'channel_not_found'],
  ['conversations.history', { channel, cursor: 'nonsense' }, 'invalid_cursor'],
])("Slack's stand-in refuses a call of %s with %j: %s", async (method, fields, error) => {
  const { slack, call } = await start();
  const given = method === 'views.open' ? { trigger_id: slack.makeTriggerId(mira), ...fields } : fields;
  expect(await call(method, given)).toMatchObject({ ok: false, error });
  expect([slack.messages, slack.views]).toEqual([[], []]);
});

it('a trigger opens one modal, within three seconds', async () => {
  const { slack, time, call } = await start();
  const open = (trigger_id: string) => call('views.open', { trigger_id, view: modal([section()]) });
  const [used, late] = [slack.makeTriggerId(mira), slack.makeTriggerId(mira)];
  time.now += 3_000;
  expect(await open(used)).toMatchObject({ ok: true });
  expect(await open(used)).toMatchObject({ error: 'exchanged_trigger_id' });
  time.now += 1;
  expect(await open(late)).toMatchObject({ error: 'expired_trigger_id' });
});

it('a modal is not updated with the hash of an earlier one', async () => {
  const { slack, call } = await start();
  const opened = await call('views.open', { trigger_id: slack.makeTriggerId(mira), view: modal([section()]) });
  const { id: view_id, hash } = opened.view as { id: string; hash: string };
  const update = () => call('views.update', { view_id, hash, view: modal([section('again')]) });
  expect(await update()).toMatchObject({ ok: true });
  expect(await update()).toMatchObject({ error: 'hash_conflict' });
});

it("the response URL of a button replaces its message, and a command's posts a new message", async () => {
  const { slack, call } = await start();
  await call('chat.postMessage', { channel, blocks: [actions(button())] });
  const [source] = slack.messages;
  for (const pressed of [source, undefined]) {
    const url = slack.makeResponseUrl({ userId: mira, channelId: channel, source: pressed });
    const body = JSON.stringify({ text: pressed ? 'Logged' : 'Done', replace_original: true });
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
  }
  expect(slack.messages).toMatchObject([
    { kind: 'message', text: 'Logged' },
    { kind: 'ephemeral', text: 'Done' },
  ]);
});
