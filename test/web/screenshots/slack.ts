import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionsBlockElement, Button, InputBlock, KnownBlock, ModalView } from '@slack/types';
import { renderElement } from '../../../local/slack/render.ts';
import { escaped } from './terminal.ts';

const ICON = readFileSync(join(import.meta.dirname, '../../../console/web/icon.svg'), 'utf8');
const EMOJI: Readonly<Record<string, string>> = { clock4: '🕓', white_check_mark: '✅', warning: '⚠️' };

const STYLE = `
  body { margin: 0; padding: 24px; background: #fff; color: #1d1c1d; font: 15px/1.47 Inter, Lato, system-ui, sans-serif; }
  .message { display: grid; grid-template-columns: 36px 1fr; gap: 0 10px; }
  .avatar { width: 36px; height: 36px; border-radius: 8px; overflow: hidden; }
  .avatar svg { display: block; width: 100%; height: 100%; }
  .who { font-weight: 700; } .app { padding: 1px 4px; border-radius: 3px; background: #e8e8e8; color: #616061; font-size: 10px; font-weight: 600; vertical-align: 2px; }
  .time { color: #616061; font-size: 12px; font-weight: 400; }
  .actions { display: flex; gap: 8px; margin-top: 8px; }
  .button { padding: 4px 12px; border: 1px solid #bbb; border-radius: 4px; font-size: 13px; font-weight: 700; }
  .button.primary { border-color: #007a5a; background: #007a5a; color: #fff; }
  .modal { width: 520px; border-radius: 8px; box-shadow: 0 0 0 1px #ddd, 0 18px 48px rgb(0 0 0 / 20%); }
  .modal header { display: flex; align-items: center; gap: 10px; padding: 20px 24px 8px; font-size: 20px; font-weight: 800; }
  .modal header .avatar { width: 28px; height: 28px; }
  .modal main { padding: 8px 24px 4px; }
  .modal footer { display: flex; justify-content: flex-end; gap: 10px; padding: 18px 24px 22px; }
  .label { margin: 14px 0 6px; font-weight: 700; } .label span { color: #616061; font-weight: 400; }
  .field { min-height: 22px; padding: 8px 12px; border: 1px solid #868686; border-radius: 4px; }
  .field.empty { color: #767676; } .field.multiline { min-height: 62px; } .field.menu { display: flex; justify-content: space-between; }
  .hint { margin-top: 4px; color: #616061; font-size: 13px; }
`;

/** A message of the relay, drawn like Slack's. */
export function messagePage(blocks: readonly KnownBlock[], time: string): string {
  return page(`<div class="message"><div class="avatar">${ICON}</div><div>
    <div class="who">Partner Relay <span class="app">APP</span> <span class="time">${escaped(time)}</span></div>
    ${blocks.map(block).join('')}</div></div>`);
}

/** A form of the relay, drawn like Slack's. */
export function formPage({ title, blocks, submit, close }: ModalView): string {
  const buttons = `<div class="button">${escaped(close?.text ?? '')}</div><div class="button primary">${escaped(submit?.text ?? '')}</div>`;
  return page(`<div class="modal"><header><div class="avatar">${ICON}</div>${escaped(title.text)}</header>
    <main>${(blocks as KnownBlock[]).map(block).join('')}</main><footer>${buttons}</footer></div>`);
}

const page = (content: string) => `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${content}`;

function block(of: KnownBlock): string {
  switch (of.type) {
    case 'section':
      return `<div>${mrkdwn(of.text?.text ?? '')}</div>`;
    case 'actions':
      return `<div class="actions">${of.elements.map(buttonOf).join('')}</div>`;
    case 'input':
      return input(of);
    default:
      throw new Error(`the picture of a block of the type ${of.type} is not known`);
  }
}

function mrkdwn(text: string): string {
  return escaped(text)
    .replaceAll(/:([a-z0-9_]+):/g, (all, name: string) => EMOJI[name] ?? all)
    .replaceAll(/\*([^*\n]+)\*/g, '<b>$1</b>')
    .replaceAll('\n', '<br>');
}

function buttonOf(element: ActionsBlockElement): string {
  const { text, style } = element as Button;
  return `<div class="button ${style ?? ''}">${escaped(text.text)}</div>`;
}

function input({ label, element, hint, optional }: InputBlock): string {
  const value =
    element.type === 'static_select'
      ? (element.initial_option?.text.text ?? '')
      : element.type === 'external_select'
        ? (element.placeholder?.text ?? '')
        : renderElement(element);
  const text = element.type === 'datepicker' ? (element.initial_date ?? '') : value.replace(/^_+$/, '');
  const isMenu = element.type.endsWith('_select') || element.type === 'datepicker';
  const kind = [
    isMenu && 'menu',
    (text === '' || element.type === 'external_select') && 'empty',
    'multiline' in element && element.multiline && 'multiline',
  ];
  return `<div class="label">${escaped(label.text)}${optional ? ' <span>(optional)</span>' : ''}</div>
    <div class="field ${kind.filter(Boolean).join(' ')}">${escaped(text) || '&nbsp;'}${isMenu ? '<span>▾</span>' : ''}</div>
    ${hint ? `<div class="hint">${escaped(hint.text)}</div>` : ''}`;
}
