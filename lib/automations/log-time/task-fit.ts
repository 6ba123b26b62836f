import { BEFORE_TASK } from '../../commands/log.ts';
import { bareWord, comparableName, idIn } from '../../commands/words.ts';
import { nearMiss } from '../../near-miss.ts';
import type { TimeToLog } from './draft.ts';

/** What a person typed for the task: its whole name or id, or words that begin with it. */
export type TypedTask = Pick<TimeToLog, 'task' | 'open'>;

export interface TypedWords {
  /** With the words of the note, if the input does not show where the task ends. */
  words: readonly string[];
  /** How many words, such as `on task`, may come before the task. A name may also begin with them. */
  leadIns: number;
  /** How many words the shortest reading takes for the task. */
  shortest: number;
  /** The first word of the task, or all of it. */
  first: string;
  isOpen: boolean;
}

/** How a task fits what was typed. */
export interface Fit {
  /** `nearly`: except for typos, or as far as it was typed. */
  how: 'exactly' | 'nearly' | 'partly';
  /** How many of the words are the task. The others are the note. */
  words: number;
}

export function typedWords({ task, open }: TypedTask): TypedWords {
  const words = (open?.text ?? task).split(' ');
  if (!open) return { words, leadIns: 0, shortest: words.length, first: task, isOpen: false };
  const isLeadIn = (word: string | undefined) => BEFORE_TASK.has(word?.toLowerCase() ?? '');
  const leadIns = !isLeadIn(words[0]) ? 0 : isLeadIn(words[1]) && words.length > 2 ? 2 : 1;
  const shortest = words.findIndex((word) => (idIn(word) ?? bareWord(word)) === task) + 1;
  const first = words[leadIns] ?? '';
  return { words, leadIns, shortest, first: idIn(first) ?? withoutMark(first), isOpen: true };
}

/** Of several ways in which a task fits, the one that takes up the most words. */
export function fitOf(task: { id: string | number; name: string }, { words, leadIns, isOpen }: TypedWords): Fit {
  const name = comparableName(task.name);
  const names = [name, String(task.id).toLowerCase()];
  // With a typo, a name may have one word more.
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
  if (exactly > 0) return { how: 'exactly', words: exactly };
  const nearly = longest(({ typed, end }) => typed === nearest || (end === words.length && name.startsWith(typed)));
  if (nearly > 0) return { how: 'nearly', words: nearly };
  const partly = longest(({ typed }) => ` ${name} `.includes(` ${typed} `));
  return { how: 'partly', words: Math.max(partly, leadIns + 1) };
}

/** Without the mark before a note: `Login with passkeys: wrote tests`. */
function withoutMark(typed: string): string {
  return typed.replace(/[.,:;!]$/, '');
}
