/**
 * The text, or as much of it as fits into so many bytes of UTF-8 together with a note that it was cut. Never splits a
 * character, even one that is made of several code points, such as a flag or a letter with an accent.
 */
export function cutToBytes(text: string, maxBytes: number, note: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const room = Math.max(0, maxBytes - Buffer.byteLength(note));
  const { read: fits } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return upTo(text, fits) + note;
}

/** The same by length, as JavaScript and Slack count it. */
export function cutToLength(text: string, maxLength: number, note = ''): string {
  return text.length <= maxLength ? text : upTo(text, Math.max(0, maxLength - note.length)) + note;
}

/** The whole characters before that place. */
function upTo(text: string, place: number): string {
  const boundary = new Intl.Segmenter().segment(text).containing(place)?.index ?? place;
  return text.slice(0, boundary);
}

/** An e-mail address as the settings have it, whose letter case does not matter. */
export const comparableAddress = (email: string) => email.trim().toLowerCase();

/** `12, 13 and 14` */
export function enumerated(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** `1 job`, `2 jobs`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/**
 * The value of a JSON text, perhaps behind a byte order mark; undefined for any other text. An integer beyond 2^53 comes
 * as a text of its digits, because two ids would become the same number.
 */
export function parsedJson(given: string): unknown {
  const text = given.replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(text);
    // A reviver gets each value of the text, which takes several times as long.
    return hasLongNumber(text) ? JSON.parse(text, withDigits) : value;
  } catch {
    return undefined;
  }
}

const LONG = 16;

/** Whether a number in a JSON text has 16 digits or more: one of them is at a multiple of 16. */
function hasLongNumber(json: string): boolean {
  for (let at = LONG - 1; at < json.length; at += LONG) {
    const code = json.charCodeAt(at);
    const isDigit = code >= 48 && code <= 57;
    if (isDigit && /(?:^|[-\s:,[])\d{16}/.test(json.slice(Math.max(0, at - LONG), at + LONG))) return true;
  }
  return false;
}

/** An integer beyond 2^53 as its digits. */
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
