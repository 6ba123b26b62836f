/**
 * The bytes of an answer's body.
 * @returns undefined for more than `most` bytes, as soon as they have come; the rest is cancelled
 */
export async function readUpTo(most: number, { body }: Response): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    // Leaving the loop cancels the rest.
    if (bytes > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
