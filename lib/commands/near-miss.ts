import { distance } from 'fastest-levenshtein';

/** Two slips in a shorter word make another word of it: `note` is not a slip of `done`. */
const LONG_WORD = 5;

/** The first word that was probably meant: it is a slip away, or two slips if it is long. */
export function nearMiss<W extends string>(typed: string, words: readonly W[]): W | undefined {
  return words.find((word) => slipsBetween(typed, word) <= (word.length >= LONG_WORD ? 2 : 1));
}

/** Letters too many, missing or wrong; one that only got to a wrong place is one slip, and not two. */
function slipsBetween(typed: string, word: string): number {
  const letters = distance(typed, word);
  return letters === 2 && sorted(typed) === sorted(word) ? 1 : letters;
}

function sorted(word: string): string {
  return [...word].sort().join('');
}
