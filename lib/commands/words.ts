/**
 * Invisible characters in pasted text: direction marks, zero-width spaces and soft hyphens. Zero-width joiners stay,
 * because emoji and some scripts need them.
 */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Puts a text on one line, without invisible characters, trimmed, and with single spaces. */
export function withSingleBlanks(text: string): string {
  return text.replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
}

/**
 * Replaces autocorrected dashes, minus signs and no-break hyphens by plain hyphens, and full-width forms by ASCII: `２ｈ`
 * becomes `2h`.
 */
export function inPlainForm(text: string): string {
  return text
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - WIDE));
}

/** The distance between the code of a full-width form and its ASCII character. */
const WIDE = 0xff01 - 0x21;

/** Matches words that contain a full-width figure, and otherwise only ASCII and full-width forms. */
const FIGURES = /(?<=^|\s)[!-~！-～]*[０-９][!-~！-～]*(?=\s|$)/g;

/** Replaces figures by ASCII: `２h １２`. Other words stay as typed: `第２版`. */
export const withPlainFigures = (text: string): string => text.replace(FIGURES, inPlainForm);

/** Returns a word in plain form without the punctuation behind it: `4711:` becomes `4711`. */
export function bareWord(word: string): string {
  return inPlainForm(word).replace(/[,:;]$/, '');
}

/** Returns a word in plain form without the punctuation around it: `(yesterday),` becomes `yesterday`. */
export function innerWord(word: string): string {
  // A single expression for both ends would take quadratic time on a run of marks in the middle.
  const start = word.search(/[^\p{P}\p{S}]/u);
  if (start < 0) return '';
  let end = word.length;
  while (MARK.test(word.charAt(end - 1))) end--;
  return inPlainForm(word.slice(start, end));
}

const MARK = /[\p{P}\p{S}]/u;

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const ID = /^(?=.*\d)\w[\w-]*$/;

/** Matches an address such as `https://pm.example.com/tasks/d94e6b20-…`. */
const ADDRESS_WITH_UUID = /^<?https?:\/\/\S*[/=#]([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?![\da-f-])/i;

/** Returns the id in a pasted task address. */
export const idInAddress = (word: string): string | undefined => ADDRESS_WITH_UUID.exec(word)?.[1]?.toLowerCase();

/**
 * Reads a word as an id: `#4711`, `(4711)` and `4711.` are 4711, and a UUID is in lowercase (RFC 9562, section 4).
 *
 * @returns undefined if the word is not an id: letters, digits and hyphens, with at least one digit
 */
export function idIn(word: string): string | undefined {
  const id = innerWord(word);
  if (!ID.test(id)) return undefined;
  return UUID.test(id) ? id.toLowerCase() : id;
}

/** Normalizes a name for comparison: Unicode form, width, letter case, hyphens, apostrophes and spaces. */
export function comparableName(name: string): string {
  return inPlainForm(withSingleBlanks(name))
    .normalize('NFC')
    .replace(/[\u2018\u2019]/g, "'")
    .toLowerCase();
}

const APOSTROPHES = "'‘’‚‛";
/**
 * Groups of marks that enclose a quotation. Any mark of a group can open or close, because a closing mark in English
 * opens in German.
 */
const QUOTATION_MARKS = ['"', '“”„‟', '«»', '‹›', APOSTROPHES];

interface Word {
  word: string;
  isQuoted: boolean;
  /** The rest of the text, without leading spaces. */
  rest: string;
}

/** Returns true if the text begins with a quotation mark, even an unclosed one. */
export function isInQuotationMarks(text: string): boolean {
  return text !== '' && QUOTATION_MARKS.some((marks) => marks.includes(text.charAt(0)));
}

/**
 * Returns the first word of a text with single spaces, or the quotation at its beginning.
 *
 * @returns undefined if the quotation is not closed
 */
export function firstWord(text: string): Word | undefined {
  const marks = text === '' ? undefined : QUOTATION_MARKS.find((marks) => marks.includes(text.charAt(0)));
  if (marks !== undefined) return quotation(text, marks);
  const end = text.indexOf(' ');
  return { word: end < 0 ? text : text.slice(0, end), isQuoted: false, rest: end < 0 ? '' : text.slice(end + 1) };
}

/** Quotes a text, so that it is read as a single word. Doubles marks only in a text with both kinds. */
export function inQuotationMarks(text: string): string {
  return text.includes('"') && !/[“”„‟]/.test(text) ? `“${text}”` : `"${text.replaceAll('"', '""')}"`;
}

/** Removes the quotation marks if one pair encloses the whole text. */
export function unquoted(text: string): string {
  const first = firstWord(text);
  return first?.isQuoted && first.rest === '' ? first.word : text;
}

/**
 * Returns a note without the mark, such as a dash, that separates it from the task, and without its quotation marks.
 */
export function noteIn(typed: string): string {
  return unquoted(typed.replace(/^(?:[-\u2010-\u2015:,;]+(?: |$))+/, ''));
}

/** Returns the text as a person has to type it for `unquoted` to return it. */
export function asTyped(text: string): string {
  return unquoted(text) === text ? text : inQuotationMarks(text);
}

/** Reads a quotation. A doubled mark stands for itself, and an apostrophe closes only at the end of a word. */
function quotation(text: string, marks: string): Word | undefined {
  let word = '';
  for (let index = 1; index < text.length; index++) {
    const unit = text.charAt(index);
    if (marks.includes(unit)) {
      const next = text.charAt(index + 1);
      const closes = marks !== APOSTROPHES || next === '' || next === ' ';
      if (next === unit) index++;
      else if (closes) return { word: word.trim(), isQuoted: true, rest: text.slice(index + 1).trimStart() };
    }
    word += unit;
  }
  return undefined;
}
