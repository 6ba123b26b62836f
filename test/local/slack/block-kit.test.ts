import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockKitFaults, viewFaults } from '../../../local/slack/block-kit.ts';
import {
  actions,
  button,
  call,
  type Fields,
  general,
  input,
  many,
  menu,
  mira,
  modal,
  mrkdwn,
  noon,
  open,
  option,
  plainText,
  post,
  section,
  startAtNoon,
  textInput,
  x,
} from './stand-in-at-noon.ts';

describe('a limit of Block Kit', () => {
  const inMessages: [what: string, limit: number, block: (size: number) => unknown, pointer: string][] = [
    ['the text of a section', 3000, (n) => section(x(n)), '/text/text'],
    ['a block_id', 255, (n) => ({ ...section(), block_id: x(n) }), '/block_id'],
    ['the elements of an actions block', 25, (n) => actions(...many(n, () => button())), '/elements'],
    ['the text of a button', 75, (n) => actions(button({ text: plainText(x(n)) })), '/elements/0/text/text'],
    ['the value of a button', 2000, (n) => actions(button({ value: x(n) })), '/elements/0/value'],
    ['an action_id', 255, (n) => actions(button({ action_id: x(n) })), '/elements/0/action_id'],
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
    const isCount = /\/(blocks|elements|options|option_groups)$/.test(pointer);
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
      [section('a', { text: { ...mrkdwn('a'), emoji: true } })],
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
      'a block that the relay does not send',
      [{ type: 'divider' }],
      'unsupported type: divider [json-pointer:/blocks/0/type]',
    ],
    [
      'an input in an actions block',
      [actions(textInput())],
      'unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]',
    ],
    ['a section with nothing in it', [{ type: 'section' }], 'missing required field: text [json-pointer:/blocks/0]'],
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
  ])('a message with %s is sent', async (_, fields) => {
    const { slack } = await startAtNoon();
    const content = { text: 'Hello', ...fields };
    const { ts } = await post(slack, content);
    expect(slack.messages).toEqual([{ kind: 'message', channel: general, ts, at: noon, ...content }]);
  });

  it('a message to a person goes to the direct conversation with that person', async () => {
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

  it('a modal may have every kind of input', async () => {
    const { slack } = await startAtNoon();
    const elements = [
      textInput({ max_length: 3000, multiline: true }),
      menu(chosen),
      {
        type: 'static_select',
        option_groups: [{ label: plainText('Shops'), options: [option('Web Shop')] }],
        ...chosen,
      },
      { type: 'datepicker', initial_date: '2026-11-20' },
      { type: 'number_input', is_decimal_allowed: true },
    ];
    const view = modal(elements.map((element) => input(element, { optional: true })));
    expect(await open(slack, view)).toMatchObject({ ok: true, view: { ...view, state: { values: {} } } });
    expect(slack.views).toMatchObject([{ view, userId: mira, at: noon, replaced: [] }]);
  });

  it('a modal larger than 250 kB is refused', async () => {
    const { slack } = await startAtNoon();
    expect(await open(slack, modal(many(100, () => section(x(2600)))))).toMatchObject({ error: 'view_too_large' });
  });

  it('a view that is missing or not JSON is refused', async () => {
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

  it('a trigger opens one modal, and a refused attempt does not use it up', async () => {
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

  it('a modal is updated with the right hash or without a hash', async () => {
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

  it('a modal that is not open is not found', async () => {
    const { slack } = await startAtNoon();
    const view = modal([section()]);
    const opened = (await open(slack, view)) as { view: { id: string } };
    slack.views.splice(0);
    const update = (fields: Fields) => call(slack, 'views.update', { view, ...fields });
    expect(await update({ view_id: opened.view.id })).toMatchObject({ error: 'not_found' });
    expect(await update({ external_id: 'mine' })).toMatchObject({ error: 'not_found' });
    expect(await update({})).toMatchObject({ error: 'invalid_arguments', errors: ['missing required field: view_id'] });
  });

  it('a modal has a unique external_id', async () => {
    const { slack } = await startAtNoon();
    const view = modal([section()], { external_id: 'mine' });
    expect(await open(slack, view)).toMatchObject({ ok: true });
    expect(await open(slack, view)).toMatchObject({ error: 'duplicate_external_id' });
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

  it('refuses what Slack refuses, and every fault says where it is', () => {
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
