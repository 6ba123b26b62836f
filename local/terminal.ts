/** What moves a terminal's cursor, colours what follows, or turns the direction of the text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text from outside for a terminal, with its line breaks and tabs. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'));
}

/** Text from outside for one line of a terminal, so that it cannot pass for another line. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/[\r\n\t\p{Zl}\p{Zp}]+/gu, ' '));
}

/** The same for all texts of what is to be printed, such as a job or a line of the log. */
export function inOneLine<T>(value: T): T;
export function inOneLine(value: unknown): unknown {
  if (typeof value === 'string') return oneLine(value);
  if (Array.isArray(value)) return value.map((entry) => inOneLine(entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, inOneLine(entry)]));
}

/** JSON for people and programs: what a terminal would obey is escaped, which changes no value. */
export function printableJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return (JSON.stringify(value, null, 2) ?? 'null').replaceAll(UNPRINTABLE, (character) =>
    character === '\n' ? character : escaped(character),
  );
}
