import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { find, type Store } from '../store.ts';
import { type AccessToken, accessTokenSeconds, readAccessToken, signAccessToken } from './access-token.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import type { Grant, RefreshToken } from './records.ts';

const refreshTokenMs = 30 * 24 * 3_600_000;

/**
 * The possible effects of using a refresh token twice, because the service's is not shown. 'revokes the grant' is what
 * OAuth 2.1 (4.3.1) asks for. 'is refused' refuses only this token. 'is repeated' answers with new tokens, for a client
 * that lost the first answer.
 */
export const refreshReuses = ['revokes the grant', 'is refused', 'is repeated'] as const;

export type RefreshReuse = (typeof refreshReuses)[number];

export interface TokenAnswer {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
}

export class Grants {
  readonly #store: Store;
  readonly #issuer: () => string;
  readonly #signingKey: string;
  readonly #reuse: RefreshReuse;

  constructor(store: Store, issuer: () => string, signingKey: string, reuse: RefreshReuse) {
    this.#store = store;
    this.#issuer = issuer;
    this.#signingKey = signingKey;
    this.#reuse = reuse;
  }

  get all(): readonly Grant[] {
    return this.#store.data.grants;
  }

  find(grant_id: string): Grant | undefined {
    return find(this.all, 'grant_id', grant_id);
  }

  /** Reads an access token; undefined if its signature is invalid. */
  read(accessToken: string): AccessToken | undefined {
    return readAccessToken(this.#signingKey, accessToken);
  }

  approve(approved: Omit<Grant, 'grant_id' | 'state'>): Grant {
    const grant: Grant = { grant_id: randomUUID(), ...approved, state: 'active' };
    this.#store.put('grants', grant);
    return grant;
  }

  issue(grant: Grant, nowMs: number, scopes: readonly string[] = grant.scopes): TokenAnswer {
    const refresh_token = `rt_${randomBytes(32).toString('base64url')}`;
    this.#store.put('refreshTokens', {
      hash: hashOf(refresh_token),
      grant_id: grant.grant_id,
      issued_at: nowMs,
      used: false,
    });
    return {
      access_token: signAccessToken(this.#signingKey, this.#issuer(), grant, scopes, nowMs),
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      refresh_token,
      scope: scopes.join(' '),
    };
  }

  /** Returns the grant of a valid refresh token. @throws {OAuthRefusal} for other tokens */
  verify(refreshToken: string, client_id: string, nowMs: number): Grant {
    const token = this.#refreshToken(refreshToken);
    const grant = token && this.find(token.grant_id);
    if (!token || !grant || grant.client_id !== client_id) return refuse('The refresh token is unknown');
    if (grant.state !== 'active') return refuse(`The grant is no longer good: ${grant.state}`);
    if (token.used && this.#reuse !== 'is repeated') this.#refuseReuse(grant);
    if (nowMs - token.issued_at > refreshTokenMs) return refuse('The refresh token has expired');
    return grant;
  }

  /** "Rotated on every exchange". Assumed: earlier access tokens stay valid. */
  rotate(refreshToken: string): void {
    const token = this.#refreshToken(refreshToken);
    if (token) this.#store.put('refreshTokens', { ...token, used: true });
  }

  end(grant: Grant, state: 'revoked' | 'consent withdrawn'): void {
    this.#store.put('grants', { ...grant, state });
    this.#store.commit();
  }

  /** Ends the grants of one person, or of everyone. */
  endAll(state: 'revoked' | 'consent withdrawn', user_id?: string): void {
    for (const grant of [...this.all]) if ((user_id ?? grant.user_id) === grant.user_id) this.end(grant, state);
  }

  #refreshToken(refreshToken: string): RefreshToken | undefined {
    return find(this.#store.data.refreshTokens, 'hash', hashOf(refreshToken));
  }

  #refuseReuse(grant: Grant): never {
    if (this.#reuse === 'revokes the grant') this.end(grant, 'revoked');
    return refuse('The refresh token has been used');
  }
}

function refuse(description: string): never {
  throw new OAuthRefusal(400, 'invalid_grant', description);
}

function hashOf(refreshToken: string): string {
  return createHash('sha256').update(refreshToken).digest('hex');
}
