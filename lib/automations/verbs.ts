import type { Languages } from '../commands/day-like.ts';
import { excerpt, type Fault, suggesting } from '../commands/fault.ts';
import { withSingleBlanks } from '../commands/words.ts';
import { nearMiss } from '../near-miss.ts';
import { doneVerb, undoVerb } from './complete-checklist-item/complete-checklist-item.ts';
import { defectVerb } from './create-defect/create-defect.ts';
import { doVerb } from './do-tool/do-tool.ts';
import { findVerb } from './find/find.ts';
import { linkVerb } from './link-account/link-account.ts';
import { unlinkVerb } from './link-account/unlink-account.ts';
import { logVerb } from './log-time/log-time.ts';
import type { Verb } from './verb.ts';

const statusVerb: Verb<{ verb: 'status' }> = {
  verb: 'status',
  usage: 'status',
  does: 'shows your last jobs, what is waiting and until when, and the budget',
  examples: ['status'],
  read: (text) =>
    text === '' ? { command: { verb: 'status' } } : { fault: 'status takes no arguments.', suggestion: 'status' },
  print: () => 'status',
  permission: null,
  asksBeforeRepeating: false,
};

const helpVerb: Verb<{ verb: 'help' }> = {
  verb: 'help',
  usage: 'help',
  does: 'shows this',
  examples: ['help', '?'],
  read: () => ({ command: { verb: 'help' } }),
  print: () => 'help',
  permission: null,
  asksBeforeRepeating: false,
};

/** Every verb, in the order in which help shows them. Add a new one here. */
const all = [
  ...[defectVerb, doneVerb, undoVerb, logVerb, findVerb],
  ...[doVerb, linkVerb, unlinkVerb, statusVerb, helpVerb],
] as const;

/** A command in one line. Texts are not empty and have single spaces only. */
export type Command = (typeof all)[number] extends infer V ? (V extends Verb<infer C> ? C : never) : never;

export const verbs: readonly Verb<Command>[] = all;

/** The verbs that work in GitHub comments, if the repository allows them. */
export const verbsInComments = verbs.filter(({ inComments }) => inComments).map(({ verb }) => verb);

export type ParsedCommand = { command: Command } | Fault;

export function verbOf({ verb }: Command): Verb<Command> {
  const found = verbs.find((one) => one.verb === verb);
  if (!found) throw new Error(`there is no verb ${verb}`);
  return found;
}

/**
 * Parses a command as typed. The verb's letter case, repeated spaces, smart quotes and autocorrected dashes make no
 * difference. Titles, notes and search texts stay unchanged, except for repeated spaces and enclosing quotation marks.
 * Empty input is not a fault: it shows help.
 */
export function parseCommand(text: string, languages: Languages): ParsedCommand {
  const typed = withSingleBlanks(text);
  const [word = ''] = typed.split(' ', 1);
  const rest = typed.slice(word.length + 1);
  const name = word === '' || word === '?' ? 'help' : word.toLowerCase();
  const verb = verbs.find((one) => one.verb === name);
  return verb ? readArguments(verb, rest, languages) : unknownVerb(word, rest, languages);
}

/** Prints a command in its shortest form. `parseCommand` reads it back. */
export function printCommand(command: Command, languages: Languages): string {
  return verbOf(command).print(command, languages);
}

function readArguments(
  { verb, usage, examples, read }: Verb<Command>,
  rest: string,
  languages: Languages,
): ParsedCommand {
  const reading = read(rest, languages);
  if (!('missing' in reading)) return reading;
  return { fault: `${verb} needs ${reading.missing}: ${usage}, for example ${examples[0]}` };
}

function unknownVerb(word: string, rest: string, languages: Languages): ParsedCommand {
  const names = verbs.map(({ verb }) => verb);
  const name = nearMiss(word.toLowerCase(), names);
  const fault = `There is no command ${excerpt(word)}.`;
  if (name === undefined) return { fault: `${fault} There are: ${names.join(', ')}.` };
  const meant = parseCommand(`${name} ${rest}`, languages);
  if ('command' in meant) return suggesting(`${fault} Did you mean ${name}?`, printCommand(meant.command, languages));
  return suggesting(`${fault} Did you mean ${name}? ${meant.fault}`, meant.suggestion);
}
