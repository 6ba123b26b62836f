import type { Item } from '../../state/table/table.ts';

/** Who a grant belongs to: a user of Slack or GitHub, or an operator at the command line. */
export interface Holder {
  in: 'slack' | 'github' | 'operator';
  id: string;
}

/** Why a grant can no longer be used. */
export type DeathCause =
  /** The service refuses the refresh token: it was revoked, or not used for 30 days. */
  | 'refused'
  /** The answers to two refreshes were lost, and the service may have rotated the token. */
  | 'lost'
  /** The access token has expired, and the service gave no refresh token. */
  | 'expired'
  /** The service no longer knows the relay's registration. */
  | 'client forgotten'
  /** The endpoint refuses a token that is new: consent, workspace or audience. */
  | 'not accepted'
  /** The key that sealed it is gone. */
  | 'sealed with another key';

/** A person's permission, as the relay keeps it. Times are epoch milliseconds. */
export interface Grant {
  connection: string;
  holder: Holder;
  issuer: string;
  /** Where the refresh token goes. */
  tokenEndpoint: string;
  /** The registration that it was issued to. */
  clientId: string;
  /** The spelling of the instance. */
  resource: string;
  scopes: readonly string[];
  /** New whenever an account is linked, even the same one, because the service does not say whose account it is. */
  grantId: string;
  linkedAt: number;
  refreshedAt: number;
  /** After this time, the access token is refreshed before it is used. */
  renewAt: number;
  /** If it is not used by then, the service forgets it (docs/partner-api.md#mcp-authorization). */
  unusedUntil: number;
  /** New with every pair of tokens. Writes are conditional on it. */
  version: string;
  /** Refreshes of this version that were sent and have no recorded outcome. */
  sends: number;
  lease?: { by: string; until: number } | undefined;
  death?: { cause: DeathCause; at: number } | undefined;
  /** The tokens. A dead grant has none. */
  sealed?: Uint8Array | undefined;
}

/** What is sealed. */
export interface SealedTokens {
  accessToken: string;
  refreshToken: string | null;
}

/** @param item as lib/as-person/grants/grants.ts writes it */
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
 * The associated data of its tokens: whose they are, and where they may be sent. A grant that was changed in the table
 * does not open, so nobody who can write to the table can have a token sent elsewhere.
 */
export function sealedFor(grant: GrantFacts): readonly string[] {
  const { connection, holder, issuer, tokenEndpoint, clientId, resource } = grant;
  return ['grant', connection, holder.in, holder.id.toLowerCase(), issuer, tokenEndpoint, clientId, resource];
}

export type GrantFacts = Pick<Grant, 'connection' | 'holder' | 'issuer' | 'tokenEndpoint' | 'clientId' | 'resource'>;
