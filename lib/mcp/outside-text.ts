const MOST_CHARACTERS = 300;

/** Text from an instance as one short line. */
export function outsideText(text: string): string {
  return onOneLine(text.slice(0, 4 * MOST_CHARACTERS)).slice(0, MOST_CHARACTERS);
}

/** The text without line breaks and control characters, and without marks that reverse the text that follows. */
export function onOneLine(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}
