import { isWrittenAsDuration } from './duration.ts';
import { CHANGED, excerpt, type Reading, suggesting } from './fault.ts';
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
const RANGE = /^(\d{1,9})-(\d{1,9})$/;
/** They may follow in the same line, and are another command. */
const COMMANDS = new Set(['done', 'undo', 'log', 'defect', 'task', 'find', 'relate']);
const SEPARATORS = new Set(['', 'and', '&', '+', 'und', 'et', 'y']);

/** Reads what follows `done` or `undo`: ids of checklist items, `12 13` or `#12, 13 and 14`. */
export function readItems(verb: ItemsCommand['verb'], text: string): Reading<ItemsCommand> {
  const words = text.split(/[ ,;]/).filter((word) => !SEPARATORS.has(word.toLowerCase()));
  const odd = words.find((word) => (idIn(word)?.length ?? Number.POSITIVE_INFINITY) > MAX_ID_LENGTH);
  if (odd?.includes('://')) {
    return {
      fault: `${excerpt(odd)} is the address of a page. ${verb} takes the numbers of checklist items, such as 12.`,
    };
  }
  if (odd !== undefined && odd !== words[0] && COMMANDS.has(odd.toLowerCase())) {
    return { fault: `${excerpt(odd)} begins another command. Give one command at a time.` };
  }
  if (odd !== undefined) {
    const takes = `${verb} takes only such numbers, which you find in the service.`;
    return {
      fault: `${excerpt(odd)} is not the number of a checklist item. ${takes}${verb === 'undo' ? ` ${CHANGED}` : ''}`,
    };
  }
  const time = words.find((word) => isWrittenAsDuration(idIn(word) ?? ''));
  if (time !== undefined)
    return {
      fault: `${excerpt(time)} is a duration. ${verb} takes the numbers of checklist items, and log logs time.`,
    };
  const range = words.find((word) => rangeIn(word));
  if (range !== undefined) {
    const all = words.flatMap((word) => rangeIn(word) ?? idIn(word) ?? []);
    const written = [verb, ...new Set(all)].join(' ');
    return suggesting(
      `${excerpt(range)} is a range. Write each number, ${MOST_ITEMS} at most.`,
      all.length > MOST_ITEMS ? [] : [written],
    );
  }
  const items = [...new Set(words.flatMap((word) => idIn(word) ?? []))];
  if (items.length === 0 && verb === 'undo')
    return { fault: `undo reopens checklist items: undo <item id> …, for example undo 12. ${CHANGED}` };
  if (items.length === 0) return { missing: 'the number of a checklist item, which you find in the service' };
  if (items.length > MOST_ITEMS) {
    return { fault: `These are ${items.length} checklist items. The maximum is ${MOST_ITEMS}.` };
  }
  return { command: { verb, items } };
}

/** The ids of `101-103`, with one more than a command takes if there are too many. */
function rangeIn(word: string): string[] | undefined {
  const [, first, last] = RANGE.exec(idIn(word) ?? '') ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from < to)) return undefined;
  return Array.from({ length: Math.min(to - from, MOST_ITEMS) + 1 }, (_, index) => String(from + index));
}
