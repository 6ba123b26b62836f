import type {
  ActionsBlockElement,
  ContextBlockElement,
  InputBlockElement,
  Option,
  SectionBlockAccessory,
} from '@slack/types';
import { plain } from '../../lib/slack/mrkdwn.ts';

const SHOWN_OPTIONS = 5;
const BLANK = '____';

/** An element or a text of a block, as text for a terminal. */
export function renderElement(
  element: ActionsBlockElement | ContextBlockElement | InputBlockElement | SectionBlockAccessory,
): string {
  switch (element.type) {
    case 'mrkdwn':
      return plain(element.text);
    case 'plain_text':
      return element.text;
    case 'image':
      return `(${element.alt_text})`;
    case 'button':
      return `[ ${element.text.text} ]`;
    case 'static_select':
      return menu(element.initial_option && labelOf(element.initial_option), offered(element));
    case 'multi_static_select':
      return menu(element.initial_options?.map(labelOf).join(', '), offered(element));
    case 'users_select':
      return menu(element.initial_user, []);
    case 'channels_select':
      return menu(element.initial_channel, []);
    case 'overflow':
      return menu('…', element.options);
    case 'radio_buttons':
      return marked(element.options, element.initial_option ? [element.initial_option] : [], ['(•)', '( )']);
    case 'checkboxes':
      return marked(element.options, element.initial_options ?? [], ['[x]', '[ ]']);
    case 'datepicker':
      return menu(element.initial_date, []);
    case 'timepicker':
      return menu(element.initial_time, []);
    case 'plain_text_input':
    case 'number_input':
      return element.initial_value || BLANK;
    default:
      return `(${element.type})`;
  }
}

function offered(menu: { options?: Option[]; option_groups?: { options: Option[] }[] }): Option[] {
  return menu.options ?? menu.option_groups?.flatMap(({ options }) => options) ?? [];
}

/** `[ Web Shop ▾ ] Mobile App, Company Website, … 8 more` */
function menu(chosen: string | undefined, options: readonly Option[]): string {
  const others = options.map(labelOf).filter((label) => label !== chosen);
  const shown = others.slice(0, SHOWN_OPTIONS);
  if (others.length > shown.length) shown.push(`… ${others.length - shown.length} more`);
  return [`[ ${chosen || BLANK} ▾ ]`, ...(shown.length > 0 ? [shown.join(', ')] : [])].join(' ');
}

function marked(options: readonly Option[], chosen: readonly Option[], [on, off]: [string, string]): string {
  const values = chosen.map(({ value }) => value);
  return options.map((option) => `${values.includes(option.value) ? on : off} ${labelOf(option)}`).join('  ');
}

function labelOf({ text }: Option): string {
  return text.type === 'mrkdwn' ? plain(text.text) : text.text;
}
