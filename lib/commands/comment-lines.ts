import { shownParagraphs } from './markdown.ts';
import { idIn, inPlainForm, withSingleBlanks } from './words.ts';

const ID = String.raw`#?(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d+)(?![\p{L}\p{N}-]|\.\d)`;
const BETWEEN_IDS = /\s?,\s?and\s|\s?,\s?|\sand\s|\s?&\s?/i;
const ENDS = String.raw`(?=\s?(?:[.!;](?=\s|$)|\n|$))`;
/** Matches in a paragraph with single spaces. */
const COMPLETES = new RegExp(
  String.raw`completes\schecklist\s(?:item:?\s(?<one>${ID})|items:?\s(?<several>${ID}(?:(?:${BETWEEN_IDS.source})${ID})*))${ENDS}[.!;]?\s?`,
  'iuy',
);
/** Matches the end of a line after which a new sentence begins, in any letter case. */
const SENTENCE_END = /[.!?]$/;

/**
 * Returns the lines of a rendered GitHub comment that begin with a slash and one of the verbs. Other slash commands
 * belong to other tools. Lines in lists, code, quotes and HTML are not commands.
 *
 * @returns each line, trimmed
 */
export function commandLines(body: string, verbs: readonly string[]): string[] {
  if (!body.includes('/')) return [];
  const command = new RegExp(String.raw`^ {0,3}\/(?:${verbs.join('|')})(?:\s|$)`, 'i');
  return shownParagraphs(body)
    .filter(({ isInList }) => !isInList)
    .flatMap(({ lines }) => lines)
    .flatMap(({ text, source = '' }) => (text.trimStart().startsWith('/') && command.test(source) ? [source] : []))
    .map((line) => line.trim());
}

/**
 * Returns the ids of checklist items that a pull request's body completes, in order and without duplicates: `Completes
 * checklist item 12`, `completes checklist items #12, 13 and 14`. Only a whole sentence at the beginning of a
 * paragraph, list item or line counts, so that other sentences do not match by accident. Only numbers and UUIDs are
 * ids. The singular `item` takes one id.
 */
export function completedItems(body: string): string[] {
  if (!/checklist/i.test(body)) return [];
  const found = shownParagraphs(body).flatMap(({ lines }) =>
    itemsOf(lines.map(({ text }) => inPlainForm(withSingleBlanks(text)))),
  );
  return [...new Set(found)];
}

/** @param lines the lines of a paragraph */
function itemsOf(lines: readonly string[]): string[] {
  const text = lines.join('\n');
  const items: string[] = [];
  let start = 0;
  for (const [index, line] of lines.entries()) {
    const isInSentence = index > 0 && !SENTENCE_END.test(lines[index - 1] ?? '') && !line.startsWith('C');
    COMPLETES.lastIndex = start;
    for (let match = isInSentence ? null : COMPLETES.exec(text); match; match = COMPLETES.exec(text)) {
      items.push(...idsIn(match.groups?.one ?? match.groups?.several ?? ''));
    }
    start += line.length + 1;
  }
  return items;
}

function idsIn(list: string): string[] {
  return list.split(BETWEEN_IDS).flatMap((id) => idIn(id) ?? []);
}
