import { onOneLine } from '../../outside.ts';

const MOST_CHARACTERS = 300;

/** Returns an instance's text as one short line. */
export function outsideText(text: string): string {
  return onOneLine(text.slice(0, 4 * MOST_CHARACTERS))
    .trim()
    .slice(0, MOST_CHARACTERS);
}

/** A shorter text is not a secret, and may be part of other words. */
const SHORTEST_SECRET = 16;

/** Removes the secrets that an instance received from its text, because some instances repeat them in errors. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  const long = secrets.filter((secret) => secret !== undefined).filter(({ length }) => length >= SHORTEST_SECRET);
  return long.reduce((said, secret) => said.replaceAll(secret, '(secret)'), text);
}
