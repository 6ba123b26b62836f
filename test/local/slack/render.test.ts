import type { KnownBlock, ModalView } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewFaults } from '../../../local/slack/block-kit.ts';
import { renderMessage, renderView } from '../../../local/slack/render.ts';
import { actions, button, input, many, modal, option, plainText, section, textInput } from './blocks.ts';

describe('as text for a terminal', () => {
  const message = (...blocks: unknown[]) =>
    renderMessage({ text: 'for notifications', blocks: blocks as KnownBlock[] });

  it('a message shows its blocks', () => {
    const shown = message(
      section('*Fix &lt;b&gt;* in <https://example.com/1|the cart> by <@U0MIRA001>', { accessory: button() }),
      actions(button(), button({ text: plainText('Mute today') })),
    );
    expect(shown).toBe(`*Fix <b>* in the cart (https://example.com/1) by @U0MIRA001  [ Log time ]
[ Log time ]  [ Mute today ]`);
  });

  it('a message without blocks shows its text', () => {
    expect(renderMessage({ text: 'a &amp; b' })).toBe('a & b');
    expect(renderMessage({ text: 'a', blocks: [] })).toBe('a');
  });

  it('a modal shows its inputs', () => {
    const options = many(7, (index) => option(`Project ${index}`));
    const view = modal(
      [
        section('A defect of *acme/web*'),
        input(textInput(), { hint: plainText('In a few words') }),
        input(textInput({ initial_value: 'Login fails' }), { optional: true }),
        input({ type: 'static_select', options }, { label: plainText('Project') }),
        input({ type: 'static_select', options, initial_option: options[3] }, { label: plainText('Project') }),
        input({ type: 'datepicker', initial_date: '2026-11-20' }, { label: plainText('Day') }),
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
Day: [ 2026-11-20 ▾ ]

[ Cancel ]  [ Create ]`);
  });

  it('no control character in a message reaches the terminal', () => {
    expect(message(section('a\u001b[31mb\r\u009bc\td\ne'))).toBe('a�[31mb��c\td\ne');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (text) => {
        expect(message(section(text), actions(button({ text: plainText(text) })))).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });
});
