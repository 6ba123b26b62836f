/** True for a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns one line without control characters and without bidirectional marks, which can reverse text on a screen. */
export function onOneLine(text: string): string {
  return text.replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

/**
 * Reads a body from outside, but not more than `most` bytes, whatever length it announces.
 * @returns the parts that fit, and whether there are more
 */
export async function readUpTo(most: number, body: AsyncIterable<Uint8Array> | null) {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (bytes > most) break;
    parts.push(part);
  }
  return { bytes: Buffer.concat(parts), isCut: bytes > most };
}
