import { distance } from 'fastest-levenshtein';

/** Shorter words may have one typo only, because two make a different word: `note` is not a typo of `done`. */
const LONG_WORD = 5;

/** Returns the word that was probably meant: one typo away, or two in a long word. Of equally near words, the first. */
export function nearMiss<W extends string>(typed: string, words: readonly W[]): W | undefined {
  let nearest: { word: W; slips: number } | undefined;
  for (const word of words) {
    const most = word.length >= LONG_WORD ? 2 : 1;
    // Skips words of very different length: each extra letter is a typo, and comparing long texts takes quadratic time.
    if (Math.abs(word.length - typed.length) > most) continue;
    const slips = slipsBetween(typed, word);
    if (slips <= most && slips < (nearest?.slips ?? most + 1)) nearest = { word, slips };
  }
  return nearest?.word;
}

/** Returns the words with the fewest typos, however many there are. */
export const nearest = (typed: string, words: readonly string[], most: number): string[] =>
  words.toSorted((a, b) => distance(typed, a) - distance(typed, b)).slice(0, most);

/** Counts extra, missing or wrong letters. A letter in the wrong place counts as one typo, not two. */
function slipsBetween(typed: string, word: string): number {
  const letters = distance(typed, word);
  return letters === 2 && sorted(typed) === sorted(word) ? 1 : letters;
}

function sorted(word: string): string {
  return [...word].sort().join('');
}
