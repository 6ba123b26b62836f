import type { IconName } from './icons.tsx';
import { state } from './state.ts';

export const isHelpOpen = state(false);

/** The screens in the order of their keys, 1 and up. */
export const SCREENS: readonly { screen: IconName; label: string }[] = [
  { screen: 'now', label: 'Now' },
  { screen: 'jobs', label: 'Jobs' },
  { screen: 'parked', label: 'Parked' },
  { screen: 'links', label: 'Links' },
  { screen: 'try', label: 'Try' },
];

export const KEYS = [
  { keys: ['/'], does: 'Go to the filter' },
  { keys: ['j', '↓'], does: 'Next item of a list' },
  { keys: ['k', '↑'], does: 'Previous item of a list' },
  { keys: ['Enter'], does: 'Open it' },
  { keys: ['Esc'], does: 'Leave a field, close a question, go back' },
  { keys: ['1', '…', '5'], does: 'Go to a screen' },
  { keys: ['?'], does: 'Show these keys' },
];

/** Keys for the whole page. They have no effect while a person types or a dialog is open. */
export function startKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isAsking()) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (isTyping(target)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (act(event.key, target)) event.preventDefault();
  });
}

const isAsking = () => document.querySelector('dialog[open]') !== null;
const isTyping = (target: HTMLElement) =>
  target.matches('textarea, select, input:not([type=checkbox]):not([type=radio])');

/** @returns whether the key has a meaning */
function act(key: string, target: HTMLElement): boolean {
  switch (key) {
    case '/':
      return focus(document.querySelector<HTMLElement>('[data-filter]'));
    case 'j':
      return move(1);
    case 'k':
      return move(-1);
    // Elsewhere, the arrow keys scroll.
    case 'ArrowDown':
      return target.matches('[data-item]') && move(1);
    case 'ArrowUp':
      return target.matches('[data-item]') && move(-1);
    case 'Escape':
      return click(document.querySelector<HTMLElement>('[data-back]'));
    case '?':
      isHelpOpen.value = true;
      return true;
    default:
      return click(document.querySelector<HTMLElement>(`nav [data-key="${CSS.escape(key)}"]`));
  }
}

function move(by: 1 | -1): boolean {
  const items = [...document.querySelectorAll<HTMLElement>('main [data-item]')].filter((item) => item.offsetParent);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by;
  return focus(items[to]);
}

function focus(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  element?.scrollIntoView({ block: 'nearest' });
  return Boolean(element);
}

function click(element: HTMLElement | null): boolean {
  element?.click();
  return Boolean(element);
}
