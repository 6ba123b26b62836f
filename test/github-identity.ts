import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';

/** A private key as GitHub issues it for an App, and its public key, in PEM. */
export const newKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

/** All Apps share one key, because generating keys takes longer than a test. */
export const { privateKey, publicKey } = newKeys();

/** The tests' App, in the form of the `github` secret. */
export const APP = { appId: '12', privateKey };

/**
 * The claims of a JSON web token that the App signed; undefined for other tokens.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
export function claimsOf(authorization: string): { iss: unknown } | undefined {
  const [head = '', claims = '', signature = ''] = authorization.replace(/^bearer /i, '').split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify('sha256', signed, createPublicKey(publicKey), Buffer.from(signature, 'base64url'))) return undefined;
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
