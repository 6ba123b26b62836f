/** The text on one line: each run of blanks, no-break spaces and line ends is one blank, with none at the ends. */
export function withSingleBlanks(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Autocorrection makes dashes of hyphens, and pasted text has minus signs and no-break hyphens. */
export function withPlainHyphens(text: string): string {
  return text.replace(/[\u2010-\u2015\u2212]/g, '-');
}

/** A word without the punctuation that joins it to the next one, and with plain hyphens: `4711:` is 4711. */
export function bareWord(word: string): string {
  return withPlainHyphens(word).replace(/[,:;]$/, '');
}

const APOSTROPHES = "'‘’‚‛";
/** Marks that open and close the same quotation. They are not told apart: what closes in English opens in German. */
const QUOTATION_MARKS = ['"', '“”„‟', '«»', '‹›', APOSTROPHES];

export interface Word {
  word: string;
  isQuoted: boolean;
  /** What follows, without blanks at its beginning. */
  rest: string;
}

/**
 * The first word of a text with single blanks, or what stands in quotation marks at its beginning.
 *
 * @returns undefined where the quotation is not closed
 */
export function firstWord(text: string): Word | undefined {
  const marks = text === '' ? undefined : QUOTATION_MARKS.find((marks) => marks.includes(text.charAt(0)));
  if (marks !== undefined) return quotation(text, marks);
  const end = text.indexOf(' ');
  return { word: end < 0 ? text : text.slice(0, end), isQuoted: false, rest: end < 0 ? '' : text.slice(end + 1) };
}

/** The text as a single word, whatever is in it. */
export function inQuotationMarks(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** What is in the quotation marks, where all of the text is in one pair of them, or else the text. */
export function unquoted(text: string): string {
  const first = firstWord(text);
  return first?.isQuoted && first.rest === '' ? first.word : text;
}

/** The text as it has to be typed for `unquoted` to give it back. */
export function asTyped(text: string): string {
  return unquoted(text) === text ? text : inQuotationMarks(text);
}

/** In a quotation, a mark that is doubled stands for itself, and an apostrophe closes only at the end of a word. */
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
