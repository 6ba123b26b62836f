import { excerpt, type Reading } from './fault.ts';
import { idIn } from './words.ts';

export interface ItemsCommand {
  verb: 'done' | 'undo';
  /** Ids of checklist items in the order given, without duplicates. */
  items: string[];
}

/** The most items of one command. */
export const MOST_ITEMS = 20;
/** The form of these ids is not shown (docs/partner-api.md#what-is-not-shown); a UUID has 36 characters. */
const MAX_ID_LENGTH = 64;
const SEPARATORS = new Set(['', 'and', '&']);

/** Reads what follows `done` or `undo`: ids of checklist items, `12 13` or `#12, 13 and 14`. */
export function readItems(verb: ItemsCommand['verb'], text: string): Reading<ItemsCommand> {
  const words = text.split(/[ ,;]/).filter((word) => !SEPARATORS.has(word.toLowerCase()));
  const odd = words.find((word) => (idIn(word)?.length ?? Number.POSITIVE_INFINITY) > MAX_ID_LENGTH);
  if (odd?.includes('://')) {
    return { fault: `${excerpt(odd)} is the address of a page. ${verb} takes the ids of checklist items, such as 12.` };
  }
  if (odd !== undefined) {
    return { fault: `${excerpt(odd)} is not the id of a checklist item: ids have digits, such as 12.` };
  }
  const items = [...new Set(words.flatMap((word) => idIn(word) ?? []))];
  if (items.length === 0)
    return { missing: 'the id of a checklist item, because the service shows the relay no list of them' };
  if (items.length > MOST_ITEMS) {
    return { fault: `These are ${items.length} checklist items. The maximum is ${MOST_ITEMS}.` };
  }
  return { command: { verb, items } };
}
