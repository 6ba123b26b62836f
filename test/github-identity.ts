import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';

/** A private key as GitHub makes it for an App, and its public one, in PEM. */
export const newKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

/** Of every App: making keys takes longer than a test. */
export const { privateKey, publicKey } = newKeys();

/** The App of the tests, as the `github` secret has it. */
export const APP = { appId: '12', privateKey };

/**
 * What a JSON web token says that the App signed; undefined for any other.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
export function claimsOf(authorization: string): { iss: unknown } | undefined {
  const [head = '', claims = '', signature = ''] = authorization.replace(/^bearer /i, '').split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify('sha256', signed, createPublicKey(publicKey), Buffer.from(signature, 'base64url'))) return undefined;
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
