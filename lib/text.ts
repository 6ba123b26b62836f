/**
 * Cuts a text to a number of bytes of UTF-8, including a note that it was cut. Returns a shorter text unchanged. Never
 * splits a character, even one of several code points, such as a flag or a letter with an accent.
 */
export function cutToBytes(text: string, maxBytes: number, note: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const room = Math.max(0, maxBytes - Buffer.byteLength(note));
  const { read: fits } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return upTo(text, fits) + note;
}

/** Cuts a text to a length, counted as in JavaScript and Slack. */
export function cutToLength(text: string, maxLength: number, note = ''): string {
  return text.length <= maxLength ? text : upTo(text, Math.max(0, maxLength - note.length)) + note;
}

/** Returns the whole characters before a place. */
function upTo(text: string, place: number): string {
  const boundary = new Intl.Segmenter().segment(text).containing(place)?.index ?? place;
  return text.slice(0, boundary);
}

/** Returns an e-mail address in a form for comparison, because the settings ignore upper and lower case. */
export const comparableAddress = (email: string) => email.trim().toLowerCase();

/** Returns a list in words: `12, 13 and 14` */
export function enumerated(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** `1 job`, `2 jobs`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/**
 * Parses JSON, with or without a byte order mark; returns undefined for any other text. An integer beyond 2^53 becomes
 * a text of its digits, because two different ids would otherwise become the same number.
 */
export function parsedJson(given: string): unknown {
  const text = given.replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(text);
    // A reviver is called for each value of the text, which takes several times as long.
    return hasLongNumber(text) ? JSON.parse(text, withDigits) : value;
  } catch {
    return undefined;
  }
}

const LONG = 16;

/** True if a number in a JSON text has 16 digits or more. One of its digits is then at a multiple of 16. */
function hasLongNumber(json: string): boolean {
  for (let at = LONG - 1; at < json.length; at += LONG) {
    const code = json.charCodeAt(at);
    const isDigit = code >= 48 && code <= 57;
    if (isDigit && /(?:^|[-\s:,[])\d{16}/.test(json.slice(Math.max(0, at - LONG), at + LONG))) return true;
  }
  return false;
}

/** Replaces an integer beyond 2^53 with its digits. */
function withDigits(_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
}

/** True if the text matches the pattern, in which each `*` stands for any characters. */
export function isLike(text: string, pattern: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return text === start;
  if (text.length < start.length + end.length || !text.startsWith(start) || !text.endsWith(end)) return false;
  let from = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= text.length - end.length;
}

/** Ends a text that needs no full stop. */
export const SENTENCE_END = /[.!?…]$/;
