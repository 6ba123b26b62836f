import { request as httpRequest } from 'node:http';
import type { KnownBlock, ModalView } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { blockKitFaults, viewFaults } from '../../local/slack/block-kit.ts';
import { renderMessage, renderView } from '../../local/slack/render.ts';
import { type SlackStandIn, startSlackStandIn } from '../../local/slack/stand-in.ts';
import { seed } from '../../sandbox/seed.ts';

const botToken = 'xoxb-stand-in';
const noon = Date.UTC(2026, 10, 20, 12);
const mira = 'U0MIRA001';
const general = 'C0GENERAL';
const bearer = { authorization: `Bearer ${botToken}` };

async function startAtNoon(): Promise<{ slack: SlackStandIn; time: { now: number } }> {
  const time = { now: noon };
  const slack = await startSlackStandIn({ clock: () => time.now, botToken });
  onTestFinished(() => slack.close());
  return { slack, time };
}

type Fields = Record<string, unknown>;

/** As the relay calls: a form, with objects as JSON in it. */
function form(fields: Fields): URLSearchParams {
  const texts = Object.entries(fields).map(
    ([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)] as const,
  );
  return new URLSearchParams(Object.fromEntries(texts));
}

async function send(slack: SlackStandIn, method: string, request: RequestInit): Promise<Fields> {
  const response = await fetch(`${slack.url}/api/${method}`, { method: 'POST', ...request });
  expect(response.status).toBe(200);
  return (await response.json()) as Fields;
}

function call(slack: SlackStandIn, method: string, fields: Fields = {}): Promise<Fields> {
  return send(slack, method, { headers: bearer, body: form(fields) });
}

function post(slack: SlackStandIn, fields: Fields): Promise<Fields> {
  return call(slack, 'chat.postMessage', { channel: general, ...fields });
}

function open(slack: SlackStandIn, view: unknown): Promise<Fields> {
  return call(slack, 'views.open', { trigger_id: slack.makeTriggerId(mira), view });
}

async function respond(url: string, fields: unknown): Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(fields) });
  return { status: response.status, body: await response.text() };
}

const x = (length: number) => 'x'.repeat(length);
const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
const plainText = (text: string) => ({ type: 'plain_text' as const, text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn' as const, text });
const section = (text = 'Hello', rest: Fields = {}) => ({ type: 'section', text: mrkdwn(text), ...rest });
const actions = (...elements: unknown[]) => ({ type: 'actions', elements });
const button = (rest: Fields = {}) => ({ type: 'button', text: plainText('Log time'), ...rest });
const option = (text: string, rest: Fields = {}) => ({ text: plainText(text), value: text, ...rest });
const menu = (rest: Fields = {}) => ({ type: 'static_select', options: [option('Web Shop')], ...rest });
const confirm = (rest: Fields = {}) => ({
  confirm: { title: plainText('Sure?'), text: mrkdwn('?'), confirm: plainText('Yes'), deny: plainText('No'), ...rest },
});
const textInput = (rest: Fields = {}) => ({ type: 'plain_text_input', ...rest });
const input = (element: unknown = textInput(), rest: Fields = {}) => ({
  type: 'input',
  label: plainText('Title'),
  element,
  ...rest,
});
const modal = (blocks: unknown, rest: Fields = {}) => ({
  type: 'modal',
  title: plainText('Create defect'),
  submit: plainText('Create'),
  blocks,
  ...rest,
});

describe('a limit of Block Kit', () => {
  const inMessages: [what: string, limit: number, block: (size: number) => unknown, pointer: string][] = [
    ['the text of a section', 3000, (n) => section(x(n)), '/text/text'],
    ['the fields of a section', 10, (n) => ({ type: 'section', fields: many(n, () => mrkdwn('a')) }), '/fields'],
    ['a field of a section', 2000, (n) => ({ type: 'section', fields: [plainText(x(n))] }), '/fields/0/text'],
    ['a header', 150, (n) => ({ type: 'header', text: plainText(x(n)) }), '/text/text'],
    ['a block_id', 255, (n) => ({ type: 'divider', block_id: x(n) }), '/block_id'],
    ['the elements of a context', 10, (n) => ({ type: 'context', elements: many(n, () => mrkdwn('a')) }), '/elements'],
    ['a text of a context', 3000, (n) => ({ type: 'context', elements: [mrkdwn(x(n))] }), '/elements/0/text'],
    ['the alt_text of an image', 2000, (n) => ({ type: 'image', image_url: 'https://a', alt_text: x(n) }), '/alt_text'],
    ['the URL of an image', 3000, (n) => ({ type: 'image', image_url: x(n), alt_text: 'a' }), '/image_url'],
    ['the elements of an actions block', 25, (n) => actions(...many(n, () => button())), '/elements'],
    ['the text of a button', 75, (n) => actions(button({ text: plainText(x(n)) })), '/elements/0/text/text'],
    ['the value of a button', 2000, (n) => actions(button({ value: x(n) })), '/elements/0/value'],
    ['the URL of a button', 3000, (n) => actions(button({ url: x(n) })), '/elements/0/url'],
    ['an action_id', 255, (n) => actions(button({ action_id: x(n) })), '/elements/0/action_id'],
    [
      'an accessibility_label',
      75,
      (n) => actions(button({ accessibility_label: x(n) })),
      '/elements/0/accessibility_label',
    ],
    [
      'the title of a confirmation',
      100,
      (n) => actions(button(confirm({ title: plainText(x(n)) }))),
      '/elements/0/confirm/title/text',
    ],
    [
      'the text of a confirmation',
      300,
      (n) => actions(button(confirm({ text: mrkdwn(x(n)) }))),
      '/elements/0/confirm/text/text',
    ],
    [
      'the yes of a confirmation',
      30,
      (n) => actions(button(confirm({ confirm: plainText(x(n)) }))),
      '/elements/0/confirm/confirm/text',
    ],
    [
      'the no of a confirmation',
      30,
      (n) => actions(button(confirm({ deny: plainText(x(n)) }))),
      '/elements/0/confirm/deny/text',
    ],
    [
      'the options of an overflow menu',
      5,
      (n) => section('a', { accessory: { type: 'overflow', options: many(n, () => option('a')) } }),
      '/accessory/options',
    ],
    [
      'the options of checkboxes',
      10,
      (n) => actions({ type: 'checkboxes', options: many(n, () => option('a')) }),
      '/elements/0/options',
    ],
    [
      'the options of radio buttons',
      10,
      (n) => actions({ type: 'radio_buttons', options: many(n, () => option('a')) }),
      '/elements/0/options',
    ],
  ];
  const inModals: typeof inMessages = [
    ['the options of a menu', 100, (n) => input(menu({ options: many(n, () => option('a')) })), '/element/options'],
    ['the text of an option', 75, (n) => input(menu({ options: [option(x(n))] })), '/element/options/0/text/text'],
    [
      'the value of an option',
      150,
      (n) => input(menu({ options: [option('a', { value: x(n) })] })),
      '/element/options/0/value',
    ],
    [
      'the description of an option',
      75,
      (n) => input(menu({ options: [option('a', { description: plainText(x(n)) })] })),
      '/element/options/0/description/text',
    ],
    [
      'the groups of a menu',
      100,
      (n) => input(grouped(many(n, () => ({ label: plainText('a'), options: [option('a')] })))),
      '/element/option_groups',
    ],
    [
      'the options of a group',
      100,
      (n) => input(grouped([{ label: plainText('a'), options: many(n, () => option('a')) }])),
      '/element/option_groups/0/options',
    ],
    [
      'the label of a group',
      75,
      (n) => input(grouped([{ label: plainText(x(n)), options: [option('a')] }])),
      '/element/option_groups/0/label/text',
    ],
    ['a placeholder', 150, (n) => input(textInput({ placeholder: plainText(x(n)) })), '/element/placeholder/text'],
    ['an initial_value', 3000, (n) => input(textInput({ initial_value: x(n) })), '/element/initial_value'],
    ['the label of an input', 2000, (n) => input(textInput(), { label: plainText(x(n)) }), '/label/text'],
    ['the hint of an input', 2000, (n) => input(textInput(), { hint: plainText(x(n)) }), '/hint/text'],
  ];
  const ofModals: [what: string, limit: number, field: (size: number) => Fields, pointer: string][] = [
    ['the blocks of a modal', 100, (n) => ({ blocks: many(n, () => section()) }), '/blocks'],
    ['the title of a modal', 24, (n) => ({ title: plainText(x(n)) }), '/title/text'],
    ['the submit button of a modal', 24, (n) => ({ submit: plainText(x(n)) }), '/submit/text'],
    ['the close button of a modal', 24, (n) => ({ close: plainText(x(n)) }), '/close/text'],
    ['private_metadata', 3000, (n) => ({ private_metadata: x(n) }), '/private_metadata'],
    ['callback_id', 255, (n) => ({ callback_id: x(n) }), '/callback_id'],
    ['external_id', 255, (n) => ({ external_id: x(n) }), '/external_id'],
  ];
  const grouped = (option_groups: unknown) => ({ type: 'static_select', option_groups });

  it.each([
    ...inMessages,
    ['the blocks of a message', 50, (n) => many(n, () => section()), ''] as (typeof inMessages)[number],
  ])('%s: %i are taken and one more is refused', async (_, limit, make, pointer) => {
    const { slack } = await startAtNoon();
    const blocks = (size: number) => [make(size)].flat();
    expect(await post(slack, { blocks: blocks(limit) })).toMatchObject({ ok: true });
    expect(await post(slack, { blocks: blocks(limit + 1) })).toMatchObject({
      ok: false,
      error: 'invalid_blocks',
      response_metadata: { messages: [tooMuch(limit, pointer === '' ? '/blocks' : `/blocks/0${pointer}`)] },
    });
    expect(slack.messages).toMatchObject([{ blocks: blocks(limit) }]);
  });

  it.each([
    ...inModals.map(([what, limit, make, pointer]) => {
      return [what, limit, (n: number) => ({ blocks: [make(n)] }), `/blocks/0${pointer}`] as (typeof ofModals)[number];
    }),
    ...ofModals,
  ])('%s: %i are taken and one more is refused', async (_, limit, make, pointer) => {
    const { slack } = await startAtNoon();
    const view = (size: number) => modal([section()], make(size));
    expect(await open(slack, view(limit))).toMatchObject({ ok: true });
    expect(await open(slack, view(limit + 1))).toMatchObject({
      ok: false,
      error: 'invalid_arguments',
      response_metadata: { messages: [tooMuch(limit, `/view${pointer}`)] },
    });
    expect(slack.views).toMatchObject([{ view: view(limit) }]);
  });

  function tooMuch(limit: number, pointer: string): unknown {
    const isCount = /\/(blocks|elements|fields|options|option_groups)$/.test(pointer);
    const fault = isCount ? `no more than ${limit} items allowed` : `must be less than ${limit + 1} characters`;
    return `[ERROR] ${fault} [json-pointer:${pointer}]`;
  }
});

describe('a message', () => {
  it.each([
    ['an unknown block', [{ type: 'sektion' }], 'unsupported type: sektion [json-pointer:/blocks/0/type]'],
    ['a block without type', [{}], 'missing required field: type [json-pointer:/blocks/0]'],
    ['an unknown field', [section('a', { txt: 1 })], 'invalid additional property: txt [json-pointer:/blocks/0]'],
    [
      'a field of plain text in mrkdwn',
      [{ type: 'section', text: { ...mrkdwn('a'), emoji: true } }],
      'invalid additional property: emoji [json-pointer:/blocks/0/text]',
    ],
    ['an empty text', [section('')], 'must be more than 0 characters [json-pointer:/blocks/0/text/text]'],
    [
      'a button without text',
      [actions({ type: 'button' })],
      'missing required field: text [json-pointer:/blocks/0/elements/0]',
    ],
    [
      'mrkdwn on a button',
      [actions(button({ text: mrkdwn('a') }))],
      'unsupported type: mrkdwn [json-pointer:/blocks/0/elements/0/text/type]',
    ],
    [
      'a button in a context',
      [{ type: 'context', elements: [button()] }],
      'unsupported type: button [json-pointer:/blocks/0/elements/0/type]',
    ],
    [
      'an input in an actions block',
      [actions(textInput())],
      'unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]',
    ],
    [
      'a section with nothing in it',
      [{ type: 'section' }],
      'must define either `text` or `fields` [json-pointer:/blocks/0]',
    ],
    [
      'two blocks of one id',
      [section('a', { block_id: 'one' }), section('b', { block_id: 'one' })],
      'block_id one already exists [json-pointer:/blocks/1/block_id]',
    ],
    [
      'two actions of one id in a block',
      [actions(button({ action_id: 'log' }), button({ action_id: 'log' }))],
      'action_id log already exists [json-pointer:/blocks/0/elements/1/action_id]',
    ],
  ])('with %s is refused', async (_, blocks, fault) => {
    const { slack } = await startAtNoon();
    expect(await post(slack, { text: 'Hello', blocks })).toEqual({
      ok: false,
      error: 'invalid_blocks',
      errors: [fault],
      response_metadata: { messages: [`[ERROR] ${fault}`] },
    });
    expect(slack.messages).toEqual([]);
  });

  it.each([
    ['no channel', { channel: '' }, 'invalid_arguments'],
    ['an unknown channel', { channel: 'C0NOWHERE' }, 'channel_not_found'],
    ['a channel without the bot', { channel: 'C0PRIVATE' }, 'not_in_channel'],
    ['an unknown person', { channel: 'U0STRANGER' }, 'channel_not_found'],
    ['somebody who has left', { channel: 'U0GONE001' }, 'channel_not_found'],
    ['neither text nor blocks', { text: '' }, 'no_text'],
    ['40,001 characters', { text: x(40_001) }, 'msg_too_long'],
    [
      'blocks of 12,001 characters',
      { blocks: [...many(4, () => section(x(3000))), section('x')] },
      'msg_blocks_too_long',
    ],
    ['blocks that are not JSON', { blocks: 'nonsense' }, 'invalid_blocks_format'],
    ['metadata that are not JSON', { metadata: 'nonsense' }, 'invalid_metadata_format'],
    ['metadata without type', { metadata: { event_payload: {} } }, 'invalid_metadata_format'],
    ['metadata without payload', { metadata: { event_type: 'reminder' } }, 'invalid_metadata_format'],
    ['a dot in event_type', { metadata: { event_type: 'a.b', event_payload: {} } }, 'invalid_metadata_format'],
    [
      'too deep a payload',
      { metadata: { event_type: 'a', event_payload: { a: { b: { c: 1 } } } } },
      'invalid_metadata_format',
    ],
  ])('with %s is refused', async (_, fields, error) => {
    const { slack } = await startAtNoon();
    expect(await post(slack, { text: 'Hello', ...fields })).toMatchObject({ ok: false, error });
    expect(slack.messages).toEqual([]);
  });

  it.each([
    ['40,000 characters', { text: x(40_000) }],
    ['blocks of 12,000 characters', { blocks: many(4, () => section(x(3000))) }],
    ['the same action_id in two blocks', { blocks: many(2, () => actions(button({ action_id: 'log' }))) }],
    [
      'metadata',
      { metadata: { event_type: 'reminder', event_payload: { day: '2026-11-20', hours: 8, of: [{ a: true }] } } },
    ],
  ])('with %s goes out', async (_, fields) => {
    const { slack } = await startAtNoon();
    const content = { text: 'Hello', ...fields };
    const { ts } = await post(slack, content);
    expect(slack.messages).toEqual([{ kind: 'message', channel: general, ts, at: noon, ...content }]);
  });

  it('to a person goes to the conversation with that person', async () => {
    const { slack } = await startAtNoon();
    const { channel } = (await call(slack, 'conversations.open', { users: mira })) as { channel: { id: string } };
    expect(await post(slack, { channel: mira, text: 'by the person' })).toMatchObject({
      ok: true,
      channel: channel.id,
    });
    expect(await post(slack, { channel: channel.id, text: 'by the channel' })).toMatchObject({ ok: true });
    expect(await call(slack, 'conversations.open', { channel: channel.id })).toMatchObject({ ok: true, channel });
    expect(slack.messages).toMatchObject(many(2, () => ({ kind: 'message', channel: channel.id, userId: mira })));
  });
});

describe('a modal', () => {
  const chosen = { initial_option: option('Web Shop') };

  it.each([
    ['no title', { title: undefined }, 'missing required field: title [json-pointer:/view]'],
    ['an empty title', { title: plainText('') }, 'must be more than 0 characters [json-pointer:/view/title/text]'],
    ['mrkdwn as title', { title: mrkdwn('a') }, 'unsupported type: mrkdwn [json-pointer:/view/title/type]'],
    ['another type', { type: 'home' }, 'unsupported type: home [json-pointer:/view/type]'],
    [
      'an unknown field',
      { submit_disabled: true },
      'invalid additional property: submit_disabled [json-pointer:/view]',
    ],
    [
      'an input and no submit button',
      { submit: undefined, blocks: [section(), input()] },
      'must define `submit` to use `input` block [json-pointer:/view/blocks/1/input]',
    ],
    [
      'a button as input',
      { blocks: [input(button())] },
      'unsupported type: button [json-pointer:/view/blocks/0/element/type]',
    ],
    [
      'a menu of neither options nor groups',
      { blocks: [input({ type: 'static_select' })] },
      'must define either `options` or `option_groups` [json-pointer:/view/blocks/0/element]',
    ],
    [
      'a menu of both',
      { blocks: [input(menu({ option_groups: [{ label: plainText('a'), options: [option('a')] }] }))] },
      'must define either `options` or `option_groups` [json-pointer:/view/blocks/0/element]',
    ],
    [
      'a choice that is not offered',
      { blocks: [input(menu({ initial_option: option('Mobile App') }))] },
      'must match one of the options [json-pointer:/view/blocks/0/element/initial_option]',
    ],
    [
      'more written already than may be',
      { blocks: [input(textInput({ initial_value: 'abc', max_length: 2 }))] },
      'must not be longer than `max_length` [json-pointer:/view/blocks/0/element/initial_value]',
    ],
    [
      'a choice of several that is not offered',
      { blocks: [input({ ...menu(), type: 'multi_static_select', initial_options: [option('a')] })] },
      'must match one of the options [json-pointer:/view/blocks/0/element/initial_options]',
    ],
    [
      'two elements that have the focus',
      {
        blocks: [input(textInput({ focus_on_load: true })), section('a', { accessory: menu({ focus_on_load: true }) })],
      },
      'only one element can have `focus_on_load` [json-pointer:/view/blocks]',
    ],
    [
      'two blocks of one id',
      { blocks: many(2, () => input(textInput(), { block_id: 'title' })) },
      'block_id title already exists [json-pointer:/view/blocks/1/block_id]',
    ],
    [
      'a length beyond 3,000',
      { blocks: [input(textInput({ max_length: 3001 }))] },
      expect.stringMatching(/\[json-pointer:\/view\/blocks\/0\/element\/max_length\]$/),
    ],
    [
      'a date that is none',
      { blocks: [input({ type: 'datepicker', initial_date: '2026-02-30' })] },
      expect.stringMatching(/\[json-pointer:\/view\/blocks\/0\/element\/initial_date\]$/),
    ],
  ])('with %s is refused', async (_, fields, fault) => {
    const { slack } = await startAtNoon();
    expect(await open(slack, modal([section()], fields))).toMatchObject({
      ok: false,
      error: 'invalid_arguments',
      errors: [fault],
    });
    expect(slack.views).toEqual([]);
  });

  it('may have every kind of input', async () => {
    const { slack } = await startAtNoon();
    const elements = [
      textInput({ max_length: 3000, min_length: 1, multiline: true, focus_on_load: true }),
      menu(chosen),
      { ...menu(), type: 'multi_static_select', initial_options: [option('Web Shop')], max_selected_items: 2 },
      {
        type: 'static_select',
        option_groups: [{ label: plainText('Shops'), options: [option('Web Shop')] }],
        ...chosen,
      },
      { type: 'radio_buttons', options: [option('Web Shop')], ...chosen },
      { type: 'checkboxes', options: [{ text: mrkdwn('*a*'), value: 'a' }] },
      { type: 'datepicker', initial_date: '2026-11-20' },
      { type: 'timepicker', initial_time: '16:30' },
      { type: 'number_input', is_decimal_allowed: true },
      { type: 'users_select' },
      { type: 'channels_select' },
    ];
    const view = modal(elements.map((element) => input(element, { optional: true, dispatch_action: false })));
    expect(await open(slack, view)).toMatchObject({ ok: true, view: { ...view, state: { values: {} } } });
    expect(slack.views).toMatchObject([{ view, userId: mira, at: noon, replaced: [] }]);
  });

  it('larger than 250 kB is refused', async () => {
    const { slack } = await startAtNoon();
    expect(await open(slack, modal(many(100, () => section(x(2600)))))).toMatchObject({ error: 'view_too_large' });
  });

  it('is not JSON or not there: refused', async () => {
    const { slack } = await startAtNoon();
    expect(await open(slack, 'nonsense')).toMatchObject({ error: 'invalid_arguments' });
    expect(await open(slack, '')).toMatchObject({
      error: 'invalid_arguments',
      errors: ['missing required field: view'],
    });
  });

  it.each([
    ['at once', 0, { ok: true }],
    ['after 3 seconds', 3000, { ok: true }],
    ['later', 3001, { ok: false, error: 'expired_trigger_id' }],
  ])('opens by a trigger %s', async (_, afterMs, answer) => {
    const { slack, time } = await startAtNoon();
    const trigger_id = slack.makeTriggerId(mira);
    time.now += afterMs;
    expect(await call(slack, 'views.open', { trigger_id, view: modal([section()]) })).toMatchObject(answer);
  });

  it('opens by a trigger once, which a refused one does not use up', async () => {
    const { slack } = await startAtNoon();
    const trigger_id = slack.makeTriggerId(mira);
    const view = modal([section()]);
    expect(await call(slack, 'views.open', { trigger_id, view: {} })).toMatchObject({ error: 'invalid_arguments' });
    expect(await call(slack, 'views.open', { trigger_id, view })).toMatchObject({ ok: true });
    expect(await call(slack, 'views.open', { trigger_id, view })).toMatchObject({ error: 'exchanged_trigger_id' });
    expect(await call(slack, 'views.open', { trigger_id: '1.2.c', view })).toMatchObject({
      error: 'invalid_trigger_id',
    });
    expect(await call(slack, 'views.open', { view })).toMatchObject({ error: 'invalid_arguments' });
  });

  it('is updated by those who know its hash, and by those who do not care', async () => {
    const { slack, time } = await startAtNoon();
    const first = modal([section('first')]);
    const second = modal([section('second')], { external_id: 'mine' });
    const third = modal([section('third')], { external_id: 'mine' });
    const { view } = (await open(slack, first)) as { view: { id: string; hash: string } };
    time.now += 60_000;
    const update = (fields: Fields) => call(slack, 'views.update', fields);
    const updated = await update({ view_id: view.id, hash: view.hash, view: second });
    expect(updated).toMatchObject({ ok: true, view: { id: view.id, ...second } });
    expect((updated.view as typeof view).hash).not.toBe(view.hash);
    expect(await update({ view_id: view.id, hash: view.hash, view: third })).toMatchObject({ error: 'hash_conflict' });
    expect(await update({ external_id: 'mine', view: third })).toMatchObject({ ok: true });
    expect(slack.views).toMatchObject([
      { view: third, at: noon + 60_000, replaced: [{ view: first, hash: view.hash, at: noon }, { view: second }] },
    ]);
  });

  it('that nobody has open is not found', async () => {
    const { slack } = await startAtNoon();
    const view = modal([section()]);
    const opened = (await open(slack, view)) as { view: { id: string } };
    slack.views.splice(0);
    const update = (fields: Fields) => call(slack, 'views.update', { view, ...fields });
    expect(await update({ view_id: opened.view.id })).toMatchObject({ error: 'not_found' });
    expect(await update({ external_id: 'mine' })).toMatchObject({ error: 'not_found' });
    expect(await update({})).toMatchObject({ error: 'invalid_arguments', errors: ['missing required field: view_id'] });
  });

  it('has an external_id of its own', async () => {
    const { slack } = await startAtNoon();
    const view = modal([section()], { external_id: 'mine' });
    expect(await open(slack, view)).toMatchObject({ ok: true });
    expect(await open(slack, view)).toMatchObject({ error: 'duplicate_external_id' });
  });
});

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

  it('without a content type is refused', async () => {
    const { slack } = await startAtNoon();
    const body = Buffer.from(formBody);
    expect(await send(slack, 'chat.postMessage', { headers: bearer, body })).toMatchObject({
      error: 'missing_post_type',
    });
  });

  it('with its token in the query is refused', async () => {
    const { slack } = await startAtNoon();
    expect(await send(slack, `auth.test?token=${botToken}`, {})).toMatchObject({ error: 'not_authed' });
  });

  it.each(['chat.delete', 'toString', ''])('of %s is of an unknown method', async (method) => {
    const { slack } = await startAtNoon();
    expect(await call(slack, method)).toEqual({ ok: false, error: 'unknown_method' });
  });

  it('without arguments needs no body', async () => {
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
  it('are three users of the sandbox, one whom the service does not know, and one who has left', async () => {
    const { slack } = await startAtNoon();
    const known = new Set(seed().users.map(({ email }) => email));
    const people = [...slack.users.values()];
    expect(people.map(({ email = '' }) => known.has(email))).toEqual([true, true, true, false, false]);
    expect(people.map(({ deleted = false }) => deleted)).toEqual([false, false, false, false, true]);
  });

  it('can be changed', async () => {
    const { slack } = await startAtNoon();
    slack.users.set('U0NEW0001', { id: 'U0NEW0001', name: 'New Person', tz: 'Asia/Tokyo', tz_offset: 32_400 });
    const { user } = await call(slack, 'users.info', { user: 'U0NEW0001' });
    expect(user).toMatchObject({ real_name: 'New Person', deleted: false, tz: 'Asia/Tokyo', tz_offset: 32_400 });
    expect(user).not.toHaveProperty('profile.email');
  });
});

describe('the history of a conversation', () => {
  const metadata = { event_type: 'reminder', event_payload: { day: '2026-11-20' } };

  it('comes in pages, the newest first, and leaves nothing out', async () => {
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

  it('has metadata for those who ask, and what came after a time', async () => {
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

  it('has what a response URL said to all, and not what it said to one', async () => {
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

  it('is good for five messages', async () => {
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

  it('is good for 30 minutes', async () => {
    const { slack, time } = await startAtNoon();
    const url = slack.makeResponseUrl(toCommand);
    time.now += 30 * 60_000;
    expect(await respond(url, { text: 'in time' })).toMatchObject({ status: 200 });
    time.now += 1;
    expect(await respond(url, { text: 'late' })).toEqual({ status: 404, body: '{"ok":false,"error":"expired_url"}' });
    expect(slack.messages).toMatchObject([{ kind: 'ephemeral', userId: mira, channel: general, text: 'in time' }]);
  });

  it('of nobody is not there', async () => {
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

  it('takes more text in blocks than chat.postMessage', async () => {
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

  it('of response URLs is told by the status, once each, in the order asked for', async () => {
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
  it('gets what went out, in order of time', async () => {
    const { slack, time } = await startAtNoon();
    await open(slack, modal([section()]));
    time.now += 1;
    await post(slack, { text: 'first' });
    time.now += 1;
    await open(slack, modal([section('later')]));
    const response = await fetch(`${slack.url}/messages`);
    expect(await response.json()).toEqual([
      { kind: 'view', ...slack.views[0] },
      slack.messages[0],
      { kind: 'view', ...slack.views[1] },
    ]);
  });

  it('gets a response URL and a trigger for a command', async () => {
    const { slack } = await startAtNoon();
    const ask = (body: string) => fetch(`${slack.url}/response-url`, { method: 'POST', body });
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

  it('asks by the address, and for what there is', async () => {
    const { slack } = await startAtNoon();
    expect((await fetch(`${slack.url}/elsewhere`)).status).toBe(404);
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'attacker.example' };
      httpRequest(`${slack.url}/messages`, { headers }, ({ statusCode }) => resolve(statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('never meets an id of an earlier start again', async () => {
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

describe('as text for a terminal', () => {
  const message = (...blocks: unknown[]) =>
    renderMessage({ text: 'for notifications', blocks: blocks as KnownBlock[] });

  it('a message shows its blocks', () => {
    const shown = message(
      { type: 'header', text: plainText('2 tasks') },
      section('*Fix &lt;b&gt;* in <https://example.com/1|the cart> by <@U0MIRA001>', { accessory: button() }),
      { type: 'section', fields: [mrkdwn('*Logged*'), plainText('3h')] },
      { type: 'divider' },
      { type: 'context', elements: [mrkdwn('today'), { type: 'image', image_url: 'https://a', alt_text: 'a bar' }] },
      actions(button(), button({ text: plainText('Mute today') })),
      { type: 'image', image_url: 'https://a', alt_text: 'a chart' },
    );
    expect(shown).toBe(`2 tasks
=======
*Fix <b>* in the cart (https://example.com/1) by @U0MIRA001  [ Log time ]
*Logged*
3h
────────────────────
today · (a bar)
[ Log time ]  [ Mute today ]
(a chart)`);
  });

  it('a message without blocks shows its text', () => {
    expect(renderMessage({ text: 'a &amp; b' })).toBe('a & b');
    expect(renderMessage({ text: 'a', blocks: [] })).toBe('a');
  });

  it('a modal shows its inputs', () => {
    const options = many(7, (index) => option(`Project ${index}`));
    const choices = [option('low'), option('high')];
    const view = modal(
      [
        section('A defect of *acme/web*'),
        input(textInput(), { hint: plainText('In a few words') }),
        input(textInput({ initial_value: 'Login fails' }), { optional: true }),
        input({ type: 'static_select', options }, { label: plainText('Project') }),
        input({ type: 'static_select', options, initial_option: options[3] }, { label: plainText('Project') }),
        input({ ...menu(), type: 'multi_static_select' }, { label: plainText('Projects') }),
        input(
          { type: 'radio_buttons', options: choices, initial_option: choices[1] },
          { label: plainText('Priority') },
        ),
        input({ type: 'checkboxes', options: choices, initial_options: [choices[0]] }, { label: plainText('Tags') }),
        input({ type: 'datepicker', initial_date: '2026-11-20' }, { label: plainText('Day') }),
        input({ type: 'timepicker' }, { label: plainText('Time') }),
        input({ type: 'users_select' }, { label: plainText('Who') }),
        section('More', { accessory: { type: 'overflow', options: choices } }),
      ],
      { close: plainText('Cancel') },
    );
    expect(viewFaults(view)).toEqual([]);
    expect(renderView({ view: view as ModalView })).toBe(`Create defect
=============

A defect of *acme/web*
Title: ____
  In a few words
Title (optional): Login fails
Project: [ ____ ▾ ] Project 0, Project 1, Project 2, Project 3, Project 4, … 2 more
Project: [ Project 3 ▾ ] Project 0, Project 1, Project 2, Project 4, Project 5, … 1 more
Projects: [ ____ ▾ ] Web Shop
Priority: ( ) low  (•) high
Tags: [x] low  [ ] high
Day: [ 2026-11-20 ▾ ]
Time: [ ____ ▾ ]
Who: [ ____ ▾ ]
More  [ … ▾ ] low, high

[ Cancel ]  [ Create ]`);
  });

  it('nothing in a message reaches the terminal as a control character', () => {
    expect(message(section('a\u001b[31mb\r\u009bc\td\ne'))).toBe('a�[31mb��c\td\ne');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (text) => {
        expect(message(section(text), actions(button({ text: plainText(text) })))).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });
});

describe('whatever is sent as blocks or as a view', () => {
  const nodes = fc.letrec((tie) => ({
    value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), tie('object')),
    object: fc.record(
      {
        type: fc.constantFrom(
          'section',
          'input',
          'actions',
          'modal',
          'static_select',
          'mrkdwn',
          'plain_text',
          'button',
        ),
        text: tie('value'),
        title: tie('value'),
        label: tie('value'),
        element: tie('value'),
        elements: fc.array(tie('value'), { maxLength: 2 }),
        blocks: fc.array(tie('value'), { maxLength: 2 }),
        options: fc.array(tie('value'), { maxLength: 2 }),
      },
      { requiredKeys: ['type'] },
    ),
  }));

  it('is judged, and every fault says where it is', () => {
    const pointed = /\[json-pointer:\/(blocks|view)(\/.*)?\]$/s;
    fc.assert(
      fc.property(fc.oneof(nodes.value, fc.array(nodes.value)), (given) => {
        const faults = [...blockKitFaults(given, 'message'), ...blockKitFaults(given, 'modal'), ...viewFaults(given)];
        expect(faults.length).toBeGreaterThan(0);
        for (const fault of faults) expect(fault).toMatch(pointed);
      }),
    );
  });
});
