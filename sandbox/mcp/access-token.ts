import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Grant } from './records.ts';

export const accessTokenSeconds = 3600;

/**
 * The content of an access token. One of the errors is "Signature invalid", so tokens are signed. Assumed: they are
 * JWTs.
 */
export interface AccessToken {
  iss: string;
  aud: string;
  sub: string;
  client_id: string;
  grant_id: string;
  scope: string;
  /** Seconds since 1970. */
  iat: number;
  exp: number;
  jti: string;
}

export function signAccessToken(
  signingKey: string,
  issuer: string,
  grant: Grant,
  scopes: readonly string[],
  nowMs: number,
): string {
  const iat = Math.floor(nowMs / 1000);
  const token: AccessToken = {
    iss: issuer,
    aud: grant.resource,
    sub: grant.user_id,
    client_id: grant.client_id,
    grant_id: grant.grant_id,
    scope: scopes.join(' '),
    iat,
    exp: iat + accessTokenSeconds,
    jti: randomUUID(),
  };
  const signed = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${encode(token)}`;
  return `${signed}.${signatureOf(signingKey, signed)}`;
}

/** Reads a token; undefined if its signature is invalid. */
export function readAccessToken(signingKey: string, text: string): AccessToken | undefined {
  const [header = '', payload = '', signature = ''] = text.split('.');
  const expected = Buffer.from(signatureOf(signingKey, `${header}.${payload}`));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signatureOf(signingKey: string, signed: string): string {
  return createHmac('sha256', signingKey).update(signed).digest('base64url');
}
