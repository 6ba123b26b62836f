import { createDecipheriv, createHash } from 'node:crypto';

const ivBytes = 16;

/**
 * Decrypts the payload of a request (docs/partner-api.md#encryption): AES-256-CBC with PKCS#7 padding. The key is the
 * SHA-256 of the secret key, the IV is in front of the ciphertext, and `encrypted_data` has both in Base64.
 *
 * @throws {Error} that says what is wrong
 */
export function decryptPayload(body: Buffer, secretKey: string): Record<string, unknown> {
  const outer = parseObject(body.toString('utf8'), 'The body');
  const encoded = outer.encrypted_data;
  if (typeof encoded !== 'string' || encoded === '') throw new Error('encrypted_data is required');
  // Buffer.from skips everything that is not Base64.
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) throw new Error('encrypted_data is not Base64');
  return parseObject(decrypt(bytes, secretKey), 'The decrypted payload');
}

function decrypt(bytes: Buffer, secretKey: string): string {
  const key = createHash('sha256').update(secretKey).digest();
  try {
    const decipher = createDecipheriv('aes-256-cbc', key, bytes.subarray(0, ivBytes));
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes)), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new Error('encrypted_data cannot be decrypted', { cause });
  }
}

export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${what} is not JSON`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is not an object`);
  return { ...value };
}
