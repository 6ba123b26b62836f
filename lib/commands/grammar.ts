import { readItems } from './checklist-items.ts';
import type { Reading, Verb } from './command.ts';
import { readLog } from './log.ts';
import { unquoted } from './words.ts';

/** All that there is to say about a verb: what parses it, and what help shows of it. */
export interface VerbGrammar {
  verb: Verb;
  /** In angle brackets what must be there, in square ones what may. */
  usage: string;
  does: string;
  /** Whole commands; the first is the one to show. */
  examples: readonly string[];
  /** Reads what follows the verb: text with single blanks and none at its ends. */
  read(text: string): Reading;
}

/** The commands, in the order in which help shows them. */
export const grammar: readonly VerbGrammar[] = [
  {
    verb: 'defect',
    usage: 'defect [title]',
    does: 'opens a defect; without a title, a form for it',
    examples: ['defect Login fails on Safari', 'defect'],
    read(text) {
      const title = unquoted(text);
      return { command: title === '' ? { verb: 'defect' } : { verb: 'defect', title } };
    },
  },
  {
    verb: 'done',
    usage: 'done <item id> …',
    does: 'completes checklist items',
    examples: ['done 12 13', 'done 12', 'done #12, 13 and 14'],
    read: (text) => readItems('done', text),
  },
  {
    verb: 'undo',
    usage: 'undo <item id> …',
    does: 'reopens checklist items',
    examples: ['undo 12', 'undo 12 13'],
    read: (text) => readItems('undo', text),
  },
  {
    verb: 'log',
    usage: 'log <duration> [day] <task> [note]',
    does: 'logs time on a task, for you',
    examples: [
      'log 1h30m 4711 wrote tests',
      'log 1.5h yesterday 4711',
      'log 90m 2026-11-18 4711',
      'log 1:30 "Checkout page" wrote tests',
      'log 2h 4711 yesterday wrote tests',
    ],
    read: readLog,
  },
  {
    verb: 'find',
    usage: 'find <text>',
    does: 'searches tasks and projects',
    examples: ['find checkout'],
    read(typed) {
      const text = unquoted(typed);
      return text === '' ? { missing: 'a text to search for' } : { command: { verb: 'find', text } };
    },
  },
  {
    verb: 'status',
    usage: 'status',
    does: 'shows your last jobs, what waits and until when, and the budget',
    examples: ['status'],
    read: (text) =>
      text === ''
        ? { command: { verb: 'status' } }
        : { fault: 'status takes nothing behind it.', suggestion: 'status' },
  },
  {
    verb: 'help',
    usage: 'help',
    does: 'shows this',
    examples: ['help', '?'],
    read: () => ({ command: { verb: 'help' } }),
  },
];
