import { createCipheriv, createHash } from 'node:crypto';

/** Length in bytes of the initialisation vector (interface document, Limits). */
export const IV_BYTES = 16;

/** The AES-256 key: the raw 32-byte SHA-256 of the secret key (interface document, Payload encryption, 2). */
export function encryptionKey(secretKey: string): Uint8Array {
  return createHash('sha256').update(secretKey, 'utf8').digest();
}

/**
 * Encrypts a payload as `encrypted_data`: Base64 of the IV followed by the AES-256-CBC ciphertext, PKCS#7 padded
 * (interface document, Payload encryption, 1 to 3).
 *
 * @param key 32 bytes from {@link encryptionKey}
 * @param iv {@link IV_BYTES} random bytes, new for each request
 */
export function encryptPayload(payload: unknown, key: Uint8Array, iv: Uint8Array): string {
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  return Buffer.concat([iv, cipher.update(JSON.stringify(payload), 'utf8'), cipher.final()]).toString('base64');
}
