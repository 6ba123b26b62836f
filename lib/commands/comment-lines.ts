import { type ParsedCommand, parseCommand } from './command.ts';
import { prose, textLines } from './markdown.ts';
import { idIn } from './words.ts';

/** A line of a comment that was written as a command. */
export interface CommandLine {
  /** As it was written, without blanks at its ends. */
  line: string;
  parsed: ParsedCommand;
}

const COMMAND = /^ {0,3}\/(?:done|undo|log)\s/i;

const ID = String.raw`#?(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d+)(?![\p{L}\p{N}-]|\.\d)`;
const BETWEEN_IDS = / ?, ?and | ?, ?| and | ?& ?/i;
const COMPLETES = new RegExp(
  String.raw`(?<![\p{L}\p{N}])completes checklist (?:item:? (?<one>${ID})|items:? (?<several>${ID}(?:(?:${BETWEEN_IDS.source})${ID})*))`,
  'giu',
);

/**
 * The lines of a comment on GitHub that begin with `/done`, `/undo` or `/log` and a blank. Other slashes are other
 * people's commands, and those in code, quotes and HTML comments are nobody's.
 */
export function commandLines(body: string): CommandLine[] {
  return textLines(body)
    .filter((line) => COMMAND.test(line))
    .map((line) => line.trim())
    .map((line) => ({ line, parsed: parseCommand(line.slice(1)) }));
}

/**
 * The ids of the checklist items that a pull request's body says it completes, in their order and without repeats:
 * `Completes checklist item 12`, `completes checklist items #12, 13 and 14`. In a sentence only numbers and UUIDs are
 * ids, and `item` has one of them: in `item 12 and 3 tests`, 3 is none.
 */
export function completedItems(body: string): string[] {
  const text = textLines(body).map(prose).join('\n').replace(/\s+/g, asBlankOrParagraph);
  const found = [...text.matchAll(COMPLETES)].flatMap(({ groups }) => idsIn(groups?.one ?? groups?.several ?? ''));
  return [...new Set(found)];
}

/** A sentence may go on in the next line, but not in the next paragraph. */
function asBlankOrParagraph(blanks: string): string {
  return blanks.indexOf('\n') === blanks.lastIndexOf('\n') ? ' ' : '\n';
}

function idsIn(list: string): string[] {
  return list.split(BETWEEN_IDS).flatMap((id) => idIn(id) ?? []);
}
