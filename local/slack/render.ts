import type {
  ActionsBlockElement,
  InputBlockElement,
  KnownBlock,
  Option,
  PlainTextElement,
  RichTextElement,
  RichTextSection,
  SectionBlockAccessory,
  TextObject,
} from '@slack/types';
import { plain } from '../../lib/platforms/slack/mrkdwn.ts';
import { printable } from '../terminal.ts';
import type { MessageContent, StandInView } from './workspace.ts';

const SHOWN_OPTIONS = 5;
const BLANK = '____';

/** Renders a message for a terminal, as people see it. If there are blocks, `text` is only for notifications. */
export function renderMessage({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>): string {
  return printable(blocks?.length ? renderBlocks(blocks) : plain(text));
}

/** Renders a modal for a terminal, as people see it. */
export function renderView({ view: { title, blocks, close, submit } }: Pick<StandInView, 'view'>): string {
  const buttons = [close, submit].flatMap((button) => (button ? [`[ ${button.text} ]`] : []));
  const parts = [`${title.text}\n${'='.repeat(title.text.length)}`, renderBlocks(blocks as KnownBlock[])];
  if (buttons.length > 0) parts.push(buttons.join('  '));
  return printable(parts.join('\n\n'));
}

/** Renders the blocks that block-kit.ts accepts. */
function renderBlocks(blocks: readonly KnownBlock[]): string {
  return blocks.map(renderBlock).join('\n');
}

function renderBlock(block: KnownBlock): string {
  switch (block.type) {
    case 'section':
      return [block.text, block.accessory].flatMap((part) => (part ? [renderElement(part)] : [])).join('  ');
    case 'actions':
      return block.elements.map(renderElement).join('  ');
    case 'input': {
      const label = `${block.label.text}${block.optional ? ' (optional)' : ''}: ${renderElement(block.element)}`;
      return block.hint ? `${label}\n  ${block.hint.text}` : label;
    }
    case 'rich_text':
      return block.elements.flatMap((part) => ('elements' in part ? part.elements.map(renderText) : [])).join('');
    default:
      return `(${block.type})`;
  }
}

function renderText(element: RichTextElement | RichTextSection): string {
  if (element.type === 'link') return `${element.text} (${element.url})`;
  return 'text' in element ? (element.text ?? '') : '';
}

export function renderElement(
  element: ActionsBlockElement | InputBlockElement | SectionBlockAccessory | TextObject,
): string {
  switch (element.type) {
    case 'mrkdwn':
      return plain(element.text);
    case 'plain_text':
      return element.text;
    case 'button':
      return `[ ${element.text.text} ]`;
    case 'static_select': {
      const options = element.options ?? element.option_groups?.flatMap((group) => group.options) ?? [];
      return menu(element.initial_option?.text, options);
    }
    case 'external_select':
      return `[ ${element.placeholder?.text ?? BLANK} ▾ ]`;
    case 'datepicker':
      return `[ ${element.initial_date ?? BLANK} ▾ ]`;
    case 'plain_text_input':
      return element.initial_value || BLANK;
    default:
      return `(${element.type})`;
  }
}

/** `[ Web Shop ▾ ] Mobile App, Company Website, … 8 more` */
function menu(chosen: PlainTextElement | undefined, options: readonly Option[]): string {
  const others = options.map(({ text }) => text.text).filter((label) => label !== chosen?.text);
  const shown = others.slice(0, SHOWN_OPTIONS);
  if (others.length > shown.length) shown.push(`… ${others.length - shown.length} more`);
  return [`[ ${chosen?.text ?? BLANK} ▾ ]`, ...(shown.length > 0 ? [shown.join(', ')] : [])].join(' ');
}
