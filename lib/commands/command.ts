import { excerpt, type Fault, suggesting } from './fault.ts';
import { grammar, type VerbGrammar } from './grammar.ts';
import { printLog } from './log.ts';
import { nearMiss } from './near-miss.ts';
import { asTyped, withSingleBlanks } from './words.ts';

export { grammar };

/** The day of a time entry: a date of the calendar as YYYY-MM-DD, or a day as seen from where the person is. */
export type Day = 'today' | 'yesterday' | string;

/** What a person asks for in one line, in Slack or on GitHub. No text is empty, and all have single blanks. */
export type Command =
  | { verb: 'defect'; title?: string }
  /** Ids of checklist items in their order, without repeats; at most 20. */
  | { verb: 'done' | 'undo'; items: string[] }
  /** `task` is its id or its name. */
  | { verb: 'log'; minutes: number; day: Day; task: string; note?: string }
  | { verb: 'find'; text: string }
  | { verb: 'status' }
  | { verb: 'help' };

export type Verb = Command['verb'];

export type ParsedCommand = { command: Command } | Fault;

/** What a verb makes of the text behind it; `missing` names what should have been there. */
export type Reading<C extends Command = Command> = { command: C } | Fault | { missing: string };

/**
 * Parses a command as it is typed: the verb's letter case, repeated blanks, smart quotes and autocorrected dashes make
 * no difference. Titles, notes and texts to search for stay as they are, but for blanks, and for quotation marks
 * around the whole. Nothing typed is no fault: it asks for help.
 */
export function parseCommand(text: string): ParsedCommand {
  const typed = withSingleBlanks(text);
  const [word = ''] = typed.split(' ', 1);
  const rest = typed.slice(word.length + 1);
  const verb = word === '' || word === '?' ? 'help' : word.toLowerCase();
  const entry = grammar.find((entry) => entry.verb === verb);
  return entry ? readArguments(entry, rest) : unknownVerb(word, rest);
}

/** The command as `parseCommand` reads it, in its shortest form. */
export function printCommand(command: Command): string {
  switch (command.verb) {
    case 'defect':
      return command.title === undefined ? 'defect' : `defect ${asTyped(command.title)}`;
    case 'done':
    case 'undo':
      return [command.verb, ...command.items].join(' ');
    case 'log':
      return printLog(command);
    case 'find':
      return `find ${asTyped(command.text)}`;
    case 'status':
    case 'help':
      return command.verb;
  }
}

function readArguments({ verb, usage, examples, read }: VerbGrammar, rest: string): ParsedCommand {
  const reading = read(rest);
  if (!('missing' in reading)) return reading;
  return { fault: `${verb} needs ${reading.missing}: ${usage}, for example ${examples[0]}` };
}

function unknownVerb(word: string, rest: string): ParsedCommand {
  const verbs = grammar.map(({ verb }) => verb);
  const verb = nearMiss(word.toLowerCase(), verbs);
  const fault = `There is no command ${excerpt(word)}.`;
  if (verb === undefined) return { fault: `${fault} There are: ${verbs.join(', ')}.` };
  const meant = parseCommand(`${verb} ${rest}`);
  if ('command' in meant) return suggesting(`${fault} Did you mean ${verb}?`, printCommand(meant.command));
  return suggesting(`${fault} Did you mean ${verb}? ${meant.fault}`, meant.suggestion);
}
