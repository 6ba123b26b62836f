import { isWrittenAsDuration } from './duration.ts';
import { CHANGED, excerpt, type Reading, suggesting } from './fault.ts';
import { idIn } from './words.ts';

export interface ItemsCommand {
  verb: 'done' | 'undo';
  /** The ids of checklist items in the given order, without duplicates. */
  items: string[];
}

/** The maximum number of items in one command. */
export const MOST_ITEMS = 20;
/** The format of these ids is not shown (docs/partner-api.md#what-is-not-shown). A UUID has 36 characters. */
const MAX_ID_LENGTH = 64;
const RANGE = /^(\d{1,9})-(\d{1,9})$/;
/** Verbs that begin another command in the same line. */
const COMMANDS = new Set(['done', 'undo', 'log', 'defect', 'task', 'find', 'relate']);
const SEPARATORS = new Set(['', 'and', '&', '+', 'und', 'et', 'y']);

const UNDO = `{slash} undo reopens checklist items, for example {slash} undo 12. ${CHANGED}`;

/** Reads the text after `done` or `undo`: ids of checklist items, such as `12 13` or `#12, 13 and 14`. */
export function readItems(verb: ItemsCommand['verb'], text: string): Reading<ItemsCommand> {
  const words = text.split(/[ ,;]/).filter((word) => !SEPARATORS.has(word.toLowerCase()));
  const takes = `{slash} ${verb} takes numbers of checklist items, such as 12.`;
  const odd = words.find((word) => (idIn(word)?.length ?? Number.POSITIVE_INFINITY) > MAX_ID_LENGTH);
  if (odd?.includes('://')) {
    return { fault: `${excerpt(odd)} is the address of a page. ${takes}` };
  }
  if (odd !== undefined && odd !== words[0] && COMMANDS.has(odd.toLowerCase())) {
    return { fault: `${excerpt(odd)} begins another command. Give one command at a time.` };
  }
  if (odd !== undefined) {
    const how = verb === 'undo' ? UNDO : `${takes} The service shows them.`;
    return { fault: `${excerpt(odd)} is not the number of a checklist item. ${how}` };
  }
  const time = words.find((word) => isWrittenAsDuration(idIn(word) ?? ''));
  if (time !== undefined) return { fault: `${excerpt(time)} is a duration. ${takes} {slash} log logs time.` };
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
  if (items.length === 0 && verb === 'undo') return { fault: UNDO };
  if (items.length === 0) return { missing: 'the number of a checklist item' };
  if (items.length > MOST_ITEMS) {
    return { fault: `${items.length} checklist items are too many: write at most ${MOST_ITEMS}.` };
  }
  return { command: { verb, items } };
}

/** Returns the ids of `101-103`. A range beyond the maximum returns one id more than that. */
function rangeIn(word: string): string[] | undefined {
  const [, first, last] = RANGE.exec(idIn(word) ?? '') ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from < to)) return undefined;
  return Array.from({ length: Math.min(to - from, MOST_ITEMS) + 1 }, (_, index) => String(from + index));
}
