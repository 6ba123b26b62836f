import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockKitFaults, viewFaults } from '../../../local/slack/block-kit.ts';
import {
  actions,
  button,
  type Fields,
  input,
  many,
  menu,
  modal,
  mrkdwn,
  option,
  plainText,
  section,
  textInput,
  x,
} from './stand-in-at-noon.ts';

type Limit = [what: string, limit: number, given: (size: number) => unknown];

const ofMessages: Limit[] = [
  ['the blocks of a message', 50, (n) => many(n, () => section())],
  ['the text of a section', 3000, (n) => [section(x(n))]],
  ['a block_id', 255, (n) => [section('a', { block_id: x(n) })]],
  ['the elements of an actions block', 25, (n) => [actions(...many(n, () => button()))]],
  ['the text of a button', 75, (n) => [actions(button({ text: plainText(x(n)) }))]],
  ['the value of a button', 2000, (n) => [actions(button({ value: x(n) }))]],
  ['an action_id', 255, (n) => [actions(button({ action_id: x(n) }))]],
];

const grouped = (option_groups: unknown) => input({ type: 'static_select', option_groups });
const groupOf = (size: number) => ({ label: plainText('a'), options: many(size, () => option('a')) });
const ofInputs: Limit[] = [
  ['the options of a menu', 100, (n) => input(menu({ options: many(n, () => option('a')) }))],
  ['the text of an option', 75, (n) => input(menu({ options: [option(x(n), { value: 'a' })] }))],
  ['the value of an option', 150, (n) => input(menu({ options: [option('a', { value: x(n) })] }))],
  ['the groups of a menu', 100, (n) => grouped(many(n, () => groupOf(1)))],
  ['the options of a group', 100, (n) => grouped([groupOf(n)])],
  ['the label of a group', 75, (n) => grouped([{ ...groupOf(1), label: plainText(x(n)) }])],
  ['an initial_value', 3000, (n) => input(textInput({ initial_value: x(n) }))],
  ['the label of an input', 2000, (n) => input(textInput(), { label: plainText(x(n)) })],
  ['the hint of an input', 2000, (n) => input(textInput(), { hint: plainText(x(n)) })],
];
const ofModals: [what: string, limit: number, fields: (size: number) => Fields][] = [
  ['the blocks of a modal', 100, (n) => ({ blocks: many(n, () => section()) })],
  ['the title of a modal', 24, (n) => ({ title: plainText(x(n)) })],
  ['the submit button of a modal', 24, (n) => ({ submit: plainText(x(n)) })],
  ['private_metadata', 3000, (n) => ({ private_metadata: x(n) })],
];

describe('a limit of Block Kit', () => {
  it.each(ofMessages)('%s: %i are taken and one more is refused', (_, limit, given) => {
    expect([blockKitFaults(given(limit)), blockKitFaults(given(limit + 1)).length]).toEqual([[], 1]);
  });

  it.each([
    ...ofModals,
    ...ofInputs.map(([what, limit, given]): (typeof ofModals)[number] => [
      what,
      limit,
      (n) => ({ blocks: [given(n)] }),
    ]),
  ])('%s: %i are taken and one more is refused', (_, limit, fields) => {
    const faults = (size: number) => viewFaults(modal([section()], fields(size)));
    expect([faults(limit), faults(limit + 1).length]).toEqual([[], 1]);
  });
});

describe('a message', () => {
  it.each([
    ['an unknown block', [{ type: 'sektion' }]],
    ['a block that the relay does not send', [{ type: 'divider' }]],
    ['an unknown field', [section('a', { txt: 1 })]],
    ['an empty text', [section('')]],
    ['a button without text', [actions({ type: 'button' })]],
    ['mrkdwn on a button', [actions(button({ text: mrkdwn('a') }))]],
    ['an input in an actions block', [actions(textInput())]],
    ['two blocks of one id', [section('a', { block_id: 'one' }), section('b', { block_id: 'one' })]],
    ['two actions of one id in a block', [actions(...many(2, () => button({ action_id: 'log' })))]],
  ])('with %s is refused', (_, blocks) => {
    expect(blockKitFaults(blocks)).not.toEqual([]);
  });
});

describe('a modal', () => {
  it.each([
    ['no title', { title: undefined }],
    ['another type', { type: 'home' }],
    ['an input and no submit button', { submit: undefined, blocks: [section(), input()] }],
    ['a button as input', { blocks: [input(button())] }],
    ['a menu of neither options nor groups', { blocks: [input({ type: 'static_select' })] }],
    ['a choice that is not offered', { blocks: [input(menu({ initial_option: option('Mobile App') }))] }],
    ['more written already than may be', { blocks: [input(textInput({ initial_value: 'abc', max_length: 2 }))] }],
    ['a date that is none', { blocks: [input({ type: 'datepicker', initial_date: '2026-02-30' })] }],
  ])('with %s is refused', (_, fields) => {
    expect(viewFaults(modal([section()], fields))).not.toEqual([]);
  });
});

it('any JSON is read without an exception', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([blockKitFaults(value), viewFaults(value)].every(Array.isArray)).toBe(true);
    }),
  );
});
