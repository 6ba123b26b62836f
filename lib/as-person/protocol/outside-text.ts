const MOST_CHARACTERS = 300;

/** Text from an instance as one short line. */
export function outsideText(text: string): string {
  return onOneLine(text.slice(0, 4 * MOST_CHARACTERS)).slice(0, MOST_CHARACTERS);
}

/** What is shorter is no secret, and may be a part of other words. */
const SHORTEST_SECRET = 16;

/** What an instance says, without the secrets that it was sent: some repeat them in their errors. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  const long = secrets.filter((secret) => secret !== undefined).filter(({ length }) => length >= SHORTEST_SECRET);
  return long.reduce((said, secret) => said.replaceAll(secret, '(secret)'), text);
}

/** The text without line breaks and control characters, and without marks that reverse the text that follows. */
export function onOneLine(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}
