import { onOneLine } from '../../outside.ts';

const MOST_CHARACTERS = 300;

/** Text from an instance as one short line. */
export function outsideText(text: string): string {
  return onOneLine(text.slice(0, 4 * MOST_CHARACTERS))
    .trim()
    .slice(0, MOST_CHARACTERS);
}

/** A shorter text is no secret, and may be part of other words. */
const SHORTEST_SECRET = 16;

/** Text from an instance without the secrets that it received: some instances repeat them in their errors. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  const long = secrets.filter((secret) => secret !== undefined).filter(({ length }) => length >= SHORTEST_SECRET);
  return long.reduce((said, secret) => said.replaceAll(secret, '(secret)'), text);
}
