import { distance } from 'fastest-levenshtein';

/** Two slips in a shorter word make another word of it: `note` is not a slip of `done`. */
const LONG_WORD = 5;

/** The word that was probably meant: the closest of those that are a slip away, or two slips away if they are long. */
export function nearMiss<W extends string>(typed: string, words: readonly W[]): W | undefined {
  let closest: { word: W; slips: number } | undefined;
  for (const word of words) {
    const slips = slipsBetween(typed, word);
    if (slips <= (word.length >= LONG_WORD ? 2 : 1) && slips < (closest?.slips ?? Number.POSITIVE_INFINITY)) {
      closest = { word, slips };
    }
  }
  return closest?.word;
}

/** Letters too many, missing or wrong; two that were swapped are one slip. */
function slipsBetween(typed: string, word: string): number {
  if (Math.abs(typed.length - word.length) > 2) return Number.POSITIVE_INFINITY;
  const letters = distance(typed, word);
  return letters === 2 && sorted(typed) === sorted(word) ? 1 : letters;
}

function sorted(word: string): string {
  return [...word].sort().join('');
}
