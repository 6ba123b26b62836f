import { BEFORE_TASK, MOST_LEAD_INS } from '../../commands/log.ts';
import { bareWord, comparableName, idIn } from '../../commands/words.ts';
import { nearMiss } from '../../near-miss.ts';
import type { TimeToLog } from './command.ts';

/** The text that a person typed for the task: its name or id, or words that begin with it. */
export type TypedTask = Pick<TimeToLog, 'task' | 'open'>;

export interface TypedWords {
  /** Includes the words of the note if the input does not show where the task ends. */
  words: readonly string[];
  /** How many words, such as `on task`, may precede the task. A name may also begin with them. */
  leadIns: number;
  /** How many words the task has in the shortest reading. */
  shortest: number;
  /** The first word of the task, or the whole task. */
  first: string;
  /** The text to search for: the first word that distinguishes tasks. */
  searched: string;
  isOpen: boolean;
}

/** Words too common to distinguish tasks. */
const STOP_WORDS = new Set(
  'a an and as at by could for from in my of on our please the this to with you der die das den dem des ein eine einen im am und mit von zu le la les un une du de et el los las y'.split(
    ' ',
  ),
);
/** How many words may belong to the name. Later words belong to the note. */
export const NAME_WORDS = 5;

/** How a task matches the typed text. */
export interface Fit {
  /** `nearly`: with typos, or as far as it was typed. `behind`: the whole name, after other words. */
  how: 'exactly' | 'behind' | 'nearly' | 'partly';
  /**
   * The position of the task's last word. The note is the rest, or everything if the first word does not belong to the
   * name.
   */
  words: number;
  /** How many of the first words appear anywhere in the name, allowing typos. Stop words only rank equal names. */
  matching: number;
}

export function typedWords({ task, open }: TypedTask): TypedWords {
  const words = (open?.text ?? task).split(' ');
  if (!open) return { words, leadIns: 0, shortest: words.length, first: task, searched: task, isOpen: false };
  const ofName = words.slice(0, -1).findIndex((word) => !BEFORE_TASK.has(word.toLowerCase()));
  const leadIns = Math.min(ofName < 0 ? words.length - 1 : ofName, MOST_LEAD_INS);
  const shortest = words.findIndex((word) => (idIn(word) ?? bareWord(word)) === task) + 1;
  const first = words[leadIns] ?? '';
  const bare = (word: string) => idIn(word) ?? withoutMark(word);
  const telling = words.slice(leadIns, leadIns + NAME_WORDS).find((word) => !STOP_WORDS.has(comparableName(word)));
  return { words, leadIns, shortest, first: bare(first), searched: bare(telling ?? first), isOpen: true };
}

/** Returns the match that covers the most words. */
export function fitOf(task: { id: string | number; name: string }, { words, leadIns, isOpen }: TypedWords): Fit {
  const name = comparableName(task.name);
  const names = [name, String(task.id).toLowerCase()];
  // A typo can split a word, so the typed name may have one word more.
  const most = isOpen ? name.split(' ').length + 1 : words.length;
  const typed = words.map(comparableName);
  const readings: { end: number; typed: string }[] = [];
  for (let start = 0; start <= leadIns; start++) {
    for (let end = isOpen ? start + 1 : most; end <= Math.min(start + most, words.length); end++) {
      readings.push({ end, typed: typed.slice(start, end).join(' ') });
    }
  }
  const nearest = nearMiss(
    name,
    readings.map(({ typed }) => typed),
  );
  const longest = (isRead: (reading: (typeof readings)[number]) => boolean) =>
    Math.max(0, ...readings.filter(isRead).map(({ end }) => end));

  const exactly = longest(({ typed }) => names.includes(typed) || names.includes(withoutMark(typed)));
  const ofName = name.split(' ');
  const isShared = (word: string) =>
    ofName.some((other) => isNear(withoutMark(word), other) || (word.length > 3 && other.startsWith(word)));
  const matching = typed
    .slice(leadIns, leadIns + NAME_WORDS)
    .filter(isShared)
    .reduce((sum, word) => sum + (STOP_WORDS.has(word) ? 0.1 : 1), 0);
  if (exactly > 0) return { how: 'exactly', words: exactly, matching };
  const count = name.split(' ').length;
  const isHere = (_: string, at: number) => at > leadIns && withoutMark(typed.slice(at, at + count).join(' ')) === name;
  const behind = isOpen ? typed.slice(0, leadIns + NAME_WORDS).findIndex(isHere) : -1;
  if (behind > 0) return { how: 'behind', words: behind + count, matching };
  const nearly = longest(
    ({ typed, end }) =>
      typed === nearest || (end === words.length && name.startsWith(typed)) || isWordByWord(typed, name),
  );
  if (nearly > 0) return { how: 'nearly', words: nearly, matching };
  const other = typed.findIndex((word, index) => index >= leadIns && !isShared(word) && !STOP_WORDS.has(word));
  const partly = typed.slice(0, other < 0 ? undefined : other).findLastIndex(isShared) + 1;
  return { how: 'partly', words: Math.max(partly, leadIns), matching };
}

/** Returns true if both have the same number of words, and each pair is equal except for typos. */
function isWordByWord(typed: string, name: string): boolean {
  const [words, named] = [typed.split(' '), name.split(' ')];
  return words.length === named.length && words.every((word, index) => isNear(word, named[index]));
}

const isNear = (word: string, other = '') =>
  word === other || (word.length > 3 && nearMiss(word, [other]) !== undefined);

/** Removes the punctuation before a note: `Login with passkeys: wrote tests`. */
function withoutMark(typed: string): string {
  return typed.replace(/[.,:;!]$/, '');
}
