import type { Item } from '../../state/table/table.ts';

/** The owner of a grant: a user of Slack or GitHub, or an operator at the command line. */
export interface Holder {
  in: 'slack' | 'github' | 'operator';
  id: string;
}

/** Why a grant can no longer be used. */
export type DeathCause =
  /** The service refuses the refresh token: it was revoked, or not used for 30 days. */
  | 'refused'
  /** The answers to two refreshes were lost, so the service may have rotated the token. */
  | 'lost'
  /** The access token has expired, and the service gave no refresh token. */
  | 'expired'
  /** The service no longer knows the relay's registration. */
  | 'client forgotten'
  /** The endpoint refuses a new token because of its consent, workspace or audience. */
  | 'not accepted'
  /** The key that sealed the grant is gone. */
  | 'sealed with another key';

/** A person's permission, as stored. Times are epoch milliseconds. */
export interface Grant {
  connection: string;
  holder: Holder;
  issuer: string;
  /** The endpoint that receives the refresh token. */
  tokenEndpoint: string;
  /** The registration to which the grant was issued. */
  clientId: string;
  /** The resource identifier in the instance's spelling. */
  resource: string;
  scopes: readonly string[];
  /** New for each link, even to the same account, because the service does not say whose account it is. */
  grantId: string;
  linkedAt: number;
  refreshedAt: number;
  /** From this time on, the access token is refreshed before use. */
  renewAt: number;
  /** The service forgets a grant that is not used until this time (docs/partner-api.md#mcp-authorization). */
  unusedUntil: number;
  /** New with each pair of tokens. Writes depend on it. */
  version: string;
  /** How many refreshes of this version were sent without a recorded outcome. */
  sends: number;
  lease?: { by: string; until: number } | undefined;
  death?: { cause: DeathCause; at: number } | undefined;
  /** The sealed tokens. A dead grant has none. */
  sealed?: Uint8Array | undefined;
}

/** The content of a grant's `sealed`. */
export interface SealedTokens {
  accessToken: string;
  refreshToken: string | null;
}

/** Reads a stored grant. @param item as written by lib/as-person/grants/grants.ts */
export function readGrant({ pk, sk, expiresAt, leaseBy, leaseUntil, deathCause, deathAt, ...rest }: Item): Grant {
  return {
    ...(rest as Item & Omit<Grant, 'lease' | 'death'>),
    ...(leaseBy !== undefined && { lease: { by: String(leaseBy), until: Number(leaseUntil) } }),
    ...(deathCause !== undefined && {
      death: {
        cause: deathCause as DeathCause,
        at: Number(deathAt),
      },
    }),
  };
}

/**
 * The associated data of a grant's seal: the tokens' owner, and the endpoints that may receive them. A grant that was
 * changed in the table does not open, so write access to the table cannot redirect a token.
 */
export function sealedFor(grant: GrantFacts): readonly string[] {
  const { connection, holder, issuer, tokenEndpoint, clientId, resource } = grant;
  return ['grant', connection, holder.in, holder.id.toLowerCase(), issuer, tokenEndpoint, clientId, resource];
}

export type GrantFacts = Pick<Grant, 'connection' | 'holder' | 'issuer' | 'tokenEndpoint' | 'clientId' | 'resource'>;
