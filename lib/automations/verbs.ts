import type { Languages } from '../commands/day-like.ts';
import { type CommandFault, excerpt, suggesting } from '../commands/fault.ts';
import { withSingleBlanks } from '../commands/words.ts';
import { nearMiss } from '../near-miss.ts';
import { doneVerb, undoVerb } from './complete-checklist-item/draft.ts';
import { defectVerb } from './create-defect/draft.ts';
import { findVerb } from './find/draft.ts';
import { helpVerb, statusVerb } from './help/draft.ts';
import { linkVerb, unlinkVerb } from './link-account/draft.ts';
import { logVerb } from './log-time/draft.ts';
import { relateVerb } from './relate/draft.ts';
import type { Verb } from './verb.ts';

/** Every verb, in the order in which help shows them. Add a new one here. */
const all = [
  defectVerb,
  doneVerb,
  undoVerb,
  relateVerb,
  logVerb,
  findVerb,
  linkVerb,
  unlinkVerb,
  statusVerb,
  helpVerb,
] as const;

type AnyVerb = (typeof all)[number];
type CommandOf<Some> = Some extends Verb<infer Read> ? Read : never;

/** A command in one line. Texts are not empty and have single spaces only. */
export type Command = CommandOf<AnyVerb>;

/** A command that intake answers, unless it makes a job. */
export type AnsweredCommand = CommandOf<Extract<AnyVerb, { isAnswered: true }>>;

export const verbs: readonly Verb<Command>[] = all;

/** The verbs that work in GitHub comments, if the repository allows them. */
export const verbsInComments = verbs.filter(({ inComments }) => inComments).map(({ verb }) => verb);

export type ParsedCommand = { command: Command } | CommandFault;

export function isAnswered(command: Command): command is AnsweredCommand {
  return verbOf(command).isAnswered === true;
}

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
  if ('command' in meant) return suggesting(`${fault} Did you mean ${name}?`, [printCommand(meant.command, languages)]);
  return suggesting(`${fault} Did you mean ${name}? ${meant.fault}`, meant.suggestions);
}
