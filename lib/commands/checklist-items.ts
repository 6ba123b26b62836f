import type { Command, Reading } from './command.ts';
import { excerpt } from './fault.ts';
import { withPlainHyphens } from './words.ts';

type ItemsCommand = Extract<Command, { verb: 'done' | 'undo' }>;

const MOST_ITEMS = 20;
/** The interface document does not show the form of these ids. That none is without a digit keeps words out. */
const ITEM_ID = /^#?(?=.*\d)\w[\w-]{0,63}$/;
const SEPARATORS = new Set(['', 'and', '&']);

/** Reads what follows `done` or `undo`: ids of checklist items, `12 13` or `#12, 13 and 14`. */
export function readItems(verb: ItemsCommand['verb'], text: string): Reading<ItemsCommand> {
  const words = withPlainHyphens(text)
    .split(/[ ,;]/)
    .filter((word) => !SEPARATORS.has(word.toLowerCase()));
  const odd = words.find((word) => !ITEM_ID.test(word));
  if (odd !== undefined) {
    return { fault: `${excerpt(odd)} is not the id of a checklist item: ids have digits, such as 12.` };
  }
  const items = [...new Set(words.map((word) => word.replace('#', '')))];
  if (items.length === 0) return { missing: 'the id of a checklist item' };
  if (items.length > MOST_ITEMS) {
    return { fault: `These are ${items.length} checklist items. ${MOST_ITEMS} at once are the most.` };
  }
  return { command: { verb, items } };
}
