import { isUtf8 } from 'node:buffer';

/**
 * The encoding of a text, as its first bytes show it, or else as it is said to be. What is said to be UTF-16 and is not,
 * and what has an unknown name, is UTF-8.
 */
export function encodingOf([first = 0, second = first]: Uint8Array, said: string | undefined): string {
  if ((first === 0xff && second === 0xfe) || (first > 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second > 0)) return 'utf-16be';
  try {
    const { encoding } = new TextDecoder(said);
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  } catch {
    return 'utf-8';
  }
}

/** The text without a byte order mark. What is not Unicode is read by the charset that it is said to have. */
export function decoded(bytes: Uint8Array, charset: string | undefined): string {
  const encoding = encodingOf(bytes, charset);
  return new TextDecoder(isUtf8(bytes) && !encoding.startsWith('utf-16') ? undefined : encoding).decode(bytes);
}

/** The charset that an answer names. */
export function charsetOf(headers: Headers): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers.get('content-type') ?? '')?.[1];
}
