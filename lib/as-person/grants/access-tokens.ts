import { randomUUID } from 'node:crypto';
import { SealBroken } from '../../seal.ts';
import { McpUnanswered } from '../protocol/errors.ts';
import { refreshTokens, type Tokens } from '../protocol/oauth/authorization.ts';
import { InstanceFault, OAuthRefusal, OAuthUnavailable } from '../protocol/oauth/oauth-errors.ts';
import type { OAuthHttp } from '../protocol/oauth/oauth-http.ts';
import { AccountNeeded, TryLater } from './errors.ts';
import type { DeathCause, Grant, Holder, SealedTokens } from './grant.ts';
import type { Grants } from './grants.ts';

/** A token that can be sent now. */
export interface AccessToken {
  token: string;
  grant: Grant;
}

/** The access tokens of one connection, shared by all workers through the table. */
export type AccessTokens = ReturnType<typeof createAccessTokens>;

interface AccessTokensOptions {
  connection: string;
  grants: Grants;
  http: OAuthHttp;
  clock: () => number;
  sleep: (ms: number) => Promise<unknown>;
  random: () => number;
}

/** Longer than a refresh takes. After that, a worker without a recorded outcome has crashed. */
const LEASE_MS = 20_000;
const LOOK_AGAIN_MS = 250;
/** If another worker's refresh takes longer, the job comes back later instead of waiting in this run. */
const LONGEST_WAIT_MS = 25_000;
/**
 * How often a refresh is sent. A refresh with a lost answer is sent once more, which works if the first never arrived.
 * If it arrived, the service has rotated the token, and nothing can recover the new one.
 */
const MOST_SENDS = 2;
/** The pause after a failure of the service itself. */
const PAUSE_MS = 30_000;

export function createAccessTokens(options: AccessTokensOptions) {
  const { connection, grants, http, clock, sleep, random } = options;

  /**
   * Ends a grant. Returns if another worker has changed the grant, so that it must be read again.
   * @throws {AccountNeeded}
   */
  async function end(grant: Grant, cause: DeathCause, said: string | null): Promise<undefined> {
    if (await grants.die(grant, cause)) throw new AccountNeeded(cause, grant.grantId, { said });
  }

  /** @returns undefined if the grant must be read again */
  async function open(grant: Grant): Promise<SealedTokens | undefined> {
    try {
      return await grants.open(grant);
    } catch (error) {
      if (error instanceof SealBroken) return end(grant, 'sealed with another key', null);
      throw error;
    }
  }

  /** @returns the token, or undefined if the grant must be read again */
  async function refresh(grant: Grant): Promise<AccessToken | undefined> {
    const opened = await open(grant);
    if (!opened) return undefined;
    const { refreshToken } = opened;
    if (refreshToken === null) return end(grant, 'expired', null);
    const by = randomUUID();
    const claimed = await grants.claimRefresh(grant, by, LEASE_MS);
    if (!claimed) return undefined;
    let tokens: Tokens;
    try {
      // Uses the endpoint from when the account was linked. It is sealed, because discovery could lead elsewhere today.
      const server = { issuer: grant.issuer, token_endpoint: grant.tokenEndpoint };
      tokens = await refreshTokens({ server, resource: grant.resource }, { ...grant, refreshToken }, http);
    } catch (error) {
      return failed(error, claimed, by);
    }
    const saved = await grants.saveRefreshed(claimed, tokens, refreshToken);
    return saved && { token: tokens.accessToken, grant: saved };
  }

  /** @returns undefined if the grant must be read again */
  async function failed(error: unknown, claimed: Grant, by: string): Promise<undefined> {
    if (error instanceof OAuthRefusal) {
      if (isPassing(error)) return later(error, claimed, by);
      return end(claimed, causeOf(error, claimed), error.said);
    }
    if (error instanceof OAuthUnavailable) return later(error, claimed, by);
    if (error instanceof McpUnanswered && !error.sent) return later(error, claimed, by);
    const isLost = error instanceof McpUnanswered || error instanceof InstanceFault;
    if (!isLost) throw error;
    await grants.release(claimed, by, true);
    return undefined;
  }

  /**
   * Postpones a refresh that was not carried out. If it was carried out after all, the service refuses the next
   * refresh, which harms nothing.
   */
  async function later(error: Error, claimed: Grant, by: string): Promise<never> {
    await grants.release(claimed, by, false);
    throw new TryLater(`the link cannot be renewed: ${error.message}`, { at: clock() + PAUSE_MS, cause: error });
  }

  return {
    /**
     * Ends a grant whose token the endpoint refuses for good. Returns if there is a newer token, which may work.
     * @throws {AccountNeeded}
     */
    async refuse(grant: Grant, said: string | null): Promise<void> {
      const kept = await grants.get(connection, grant.holder);
      if (kept?.version === grant.version) await end(grant, 'not accepted', said);
    },
    /**
     * Returns the person's access token. If it is about to expire, one worker refreshes it, and the others wait for the
     * new token.
     * @param refused a version that the endpoint refuses, so that a newer one is needed
     * @throws {AccountNeeded | TryLater | SecretError}
     */
    async get(holder: Holder, refused?: string): Promise<AccessToken> {
      const giveUpAt = clock() + LONGEST_WAIT_MS;
      for (;;) {
        const grant = await grants.get(connection, holder);
        if (!grant) throw new AccountNeeded('never linked', null);
        if (grant.death) throw new AccountNeeded(grant.death.cause, grant.grantId);
        // A different origin means that the base URL has changed. A token is valid only for the instance that issued
        // it.
        if (new URL(grant.resource).origin !== new URL(http.endpoint).origin) {
          throw new AccountNeeded('other instance', grant.grantId);
        }
        if (grant.renewAt > clock() && grant.version !== refused) {
          const opened = await open(grant);
          if (!opened) continue;
          return { token: opened.accessToken, grant };
        }
        if (grant.lease && grant.lease.until > clock()) {
          if (clock() > giveUpAt) throw new TryLater('another worker renews the link', { at: grant.lease.until });
          await sleep(LOOK_AGAIN_MS * (1 + random()));
          continue;
        }
        if (grant.sends >= MOST_SENDS) {
          await end(grant, 'lost', null);
          continue;
        }
        const refreshed = await refresh(grant);
        if (refreshed) return refreshed;
      }
    },
  };
}

function causeOf({ error }: OAuthRefusal, { sends }: Grant): DeathCause {
  if (error === 'invalid_client' || error === 'unauthorized_client') return 'client forgotten';
  return sends > 1 ? 'lost' : 'refused';
}

const isPassing = ({ error }: OAuthRefusal) => error === 'temporarily_unavailable' || error === 'slow_down';
