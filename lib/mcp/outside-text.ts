const MOST_CHARACTERS = 300;

/** Text from an instance as one short line: no control characters, and no marks that reverse the text that follows. */
export function outsideText(text: string): string {
  return text
    .slice(0, 4 * MOST_CHARACTERS)
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS);
}
