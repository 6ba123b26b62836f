import { SOURCE } from '../lib/project.ts';

/** Characters that move a terminal's cursor, change colors or reverse the text direction. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Makes text from outside safe for a terminal. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'));
}

/** Makes text from outside safe for one line of a terminal, so that it cannot fake another line. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/[\r\n\t\p{Zl}\p{Zp}]+/gu, ' '));
}

/** Applies {@link oneLine} to all texts in a value, such as a job or a log line. */
export function inOneLine<T>(value: T): T;
export function inOneLine(value: unknown): unknown {
  if (typeof value === 'string') return oneLine(value);
  if (Array.isArray(value)) return value.map((entry) => inOneLine(entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, inOneLine(entry)]));
}

/** Returns the text with paths of the docs as they are in the folder of a team, which has them in the package. */
export function withDocsHere(text: string): string {
  return SOURCE === '.ts' ? text : text.replaceAll(DOCS, 'node_modules/partner-relay/$&');
}

const DOCS = /(?<![\w/.-])docs\/[\w/-]+\.md/g;

/** JSON for people and programs. Control characters of terminals are escaped, which does not change the values. */
export function printableJson(value: unknown, indent = 2): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return (JSON.stringify(value, null, indent) ?? 'null').replaceAll(UNPRINTABLE, (character) =>
    character === '\n' ? character : escaped(character),
  );
}
