import type { KnownBlock } from '@slack/types';
import { plain } from '../../lib/platforms/slack/mrkdwn.ts';
import { printable } from '../terminal.ts';
import { renderElement } from './render-element.ts';
import type { MessageContent, StandInView } from './workspace.ts';

/** A message as people see it, as text for a terminal. If there are blocks, the `text` is only for notifications. */
export function renderMessage({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>): string {
  return printable(blocks?.length ? renderBlocks(blocks) : plain(text));
}

/** A modal as people see it, as text for a terminal. */
export function renderView({ view: { title, blocks, close, submit } }: Pick<StandInView, 'view'>): string {
  const buttons = [close, submit].flatMap((button) => (button ? [`[ ${button.text} ]`] : []));
  const parts = [underlined(title.text), renderBlocks(blocks as KnownBlock[])];
  if (buttons.length > 0) parts.push(buttons.join('  '));
  return printable(parts.join('\n\n'));
}

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
    default:
      return `(${block.type})`;
  }
}

function underlined(title: string): string {
  return `${title}\n${'='.repeat(title.length)}`;
}
