import type {
  ActionsBlockElement,
  InputBlockElement,
  Option,
  PlainTextElement,
  SectionBlockAccessory,
  TextObject,
} from '@slack/types';
import { plain } from '../../lib/platforms/slack/mrkdwn.ts';

const SHOWN_OPTIONS = 5;
const BLANK = '____';

/** An element or a text of a block that block-kit.ts takes, as text for a terminal. */
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
    case 'static_select':
      return menu(
        element.initial_option?.text,
        element.options ?? element.option_groups?.flatMap(({ options }) => options) ?? [],
      );
    case 'multi_static_select':
      return menu(undefined, element.options ?? []);
    case 'datepicker':
      return `[ ${element.initial_date ?? BLANK} ▾ ]`;
    case 'number_input':
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
