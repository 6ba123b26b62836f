import { createCipheriv, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** Length in bytes of the initialisation vector (docs/partner-api.md#encryption). */
export const IV_BYTES = 16;

/**
 * Returns the AES-256 key: the raw 32-byte SHA-256 of the secret key (docs/partner-api.md#encryption). A KeyObject is
 * prepared once. Raw bytes would be prepared for each payload, which costs four times as much as the encryption.
 */
export function encryptionKey(secretKey: string): KeyObject {
  return createSecretKey(hash('sha256', secretKey, 'buffer'));
}

/**
 * Encrypts a payload as `encrypted_data`: Base64 of the IV followed by the AES-256-CBC ciphertext, PKCS#7 padded
 * (docs/partner-api.md#encryption).
 *
 * @param key from {@link encryptionKey}
 * @param iv {@link IV_BYTES} random bytes, new for each request
 */
export function encryptPayload(payload: unknown, key: KeyObject, iv: Uint8Array): string {
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  return Buffer.concat([iv, cipher.update(JSON.stringify(payload), 'utf8'), cipher.final()]).toString('base64');
}

/**
 * The public part of a key (docs/partner-api.md#keys). It is sent unencrypted, so a secret key in its place is refused
 * before anything is sent.
 */
export const API_KEY = /^pk_[\x21-\x7e]+$/;
export const API_KEY_EXPECTED = 'expected a key that begins with pk_, of ASCII characters without spaces';
