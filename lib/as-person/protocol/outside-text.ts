const MOST_CHARACTERS = 300;

/** Text from an instance as one short line. */
export function outsideText(text: string): string {
  return onOneLine(text.slice(0, 4 * MOST_CHARACTERS)).slice(0, MOST_CHARACTERS);
}

/** A shorter text is no secret, and may be part of other words. */
const SHORTEST_SECRET = 16;

/** Text from an instance without the secrets that it received: some instances repeat them in their errors. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  const long = secrets.filter((secret) => secret !== undefined).filter(({ length }) => length >= SHORTEST_SECRET);
  return long.reduce((said, secret) => said.replaceAll(secret, '(secret)'), text);
}

/** The text without line breaks, control characters, and marks that reverse the text after them. */
export function onOneLine(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}
