import { isUtf8 } from 'node:buffer';

/**
 * Returns the encoding that the first bytes of a text show, or else the declared one. Text without the bytes of UTF-16
 * is not UTF-16, even if declared so. For that text, and for an unknown name, the encoding is UTF-8.
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

/** Returns the text without a byte order mark. The declared charset applies only to text that is not Unicode. */
export function decoded(bytes: Uint8Array, charset: string | undefined): string {
  const encoding = encodingOf(bytes, charset);
  return new TextDecoder(isUtf8(bytes) && !encoding.startsWith('utf-16') ? undefined : encoding).decode(bytes);
}

/** Returns the charset that an answer declares. */
export function charsetOf(headers: Headers): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers.get('content-type') ?? '')?.[1];
}
