import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_ID_BYTES = 4;
export const SEAL_IV_BYTES = 12;
const TAG_BYTES = 16;

/** A key, derived from the text in the secret. */
export interface SealKey {
  bytes: Buffer;
  /** Identifies the key, so that opening does not try a rotated one. */
  id: Buffer;
}

/** The sealed text cannot be opened: another key, other associated data, or changed bytes. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** @param purpose separates keys that come from the same text */
export function sealKey(text: string, purpose = 'grants'): SealKey {
  const bytes = createHash('sha256').update(`partner-relay ${purpose}`).update('\0').update(text).digest();
  return { bytes, id: createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES) };
}

/**
 * Encrypts and authenticates a text.
 *
 * @param associated what the text belongs to; it opens only with the same list
 * @param iv {@link SEAL_IV_BYTES} random bytes, new for each text
 * @returns the key's id, the IV, the tag and the ciphertext
 */
export function seal(key: SealKey, text: string, associated: readonly string[], iv: Uint8Array): Uint8Array {
  const cipher = createCipheriv(CIPHER, key.bytes, iv).setAAD(bytesOf(associated));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([key.id, iv, cipher.getAuthTag(), encrypted]);
}

/** @throws {SealBroken} */
export function unseal(keys: readonly SealKey[], sealed: Uint8Array, associated: readonly string[]): string {
  const bytes = Buffer.from(sealed);
  const [ivAt, tagAt] = [KEY_ID_BYTES, KEY_ID_BYTES + SEAL_IV_BYTES];
  const textAt = tagAt + TAG_BYTES;
  const key = keys.find(({ id }) => id.equals(bytes.subarray(0, KEY_ID_BYTES)));
  if (!key || bytes.length < textAt) throw new SealBroken('sealed with a key that the secret no longer has');
  try {
    const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(ivAt, tagAt), { authTagLength: TAG_BYTES });
    decipher.setAAD(bytesOf(associated)).setAuthTag(bytes.subarray(tagAt, textAt));
    return Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new SealBroken('what was sealed belongs to something else, or was changed', { cause });
  }
}

/** JSON, so that different lists never have the same bytes. */
const bytesOf = (associated: readonly string[]) => Buffer.from(JSON.stringify(associated));
