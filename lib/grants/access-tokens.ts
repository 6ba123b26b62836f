import { randomUUID } from 'node:crypto';
import type { AuthorizationServer } from 'oauth4webapi';
import { refreshTokens, type Tokens } from '../mcp/authorization.ts';
import { McpUnanswered } from '../mcp/errors.ts';
import { InstanceFault, OAuthRefusal, OAuthUnavailable } from '../mcp/oauth-errors.ts';
import type { OAuthHttp } from '../mcp/oauth-http.ts';
import { LinkNeeded, TryLater } from './errors.ts';
import type { DeathCause, Grant, Holder, SealedTokens } from './grant.ts';
import type { Grants } from './grants.ts';
import { SealBroken } from './seal.ts';

/** A token that can be sent now. */
export interface AccessToken {
  token: string;
  grant: Grant;
}

/** The access tokens of one connection. Workers share them through the table. */
export interface AccessTokens {
  /**
   * The person's access token, refreshed where it is about to expire. One worker refreshes; all others wait for the
   * token that it gets.
   *
   * @param refused a version that the endpoint refuses: a newer one is needed
   * @throws {LinkNeeded | TryLater | SecretError}
   */
  get(holder: Holder, refused?: string): Promise<AccessToken>;
  /**
   * The endpoint refuses a token for good. Returns where there is a newer one, which may be better.
   * @throws {LinkNeeded}
   */
  refuse(grant: Grant, said: string | null): Promise<void>;
}

export interface AccessTokensOptions {
  connection: string;
  grants: Grants;
  http: OAuthHttp;
  /** The metadata of a grant's issuer. */
  serverOf: (issuer: string) => Promise<AuthorizationServer>;
  clock: () => number;
  sleep: (ms: number) => Promise<unknown>;
  random: () => number;
}

/** Longer than a refresh takes. A worker that has not written its outcome by then was killed. */
const LEASE_MS = 20_000;
const LOOK_AGAIN_MS = 250;
/** After so long another worker's refresh is waited for by the job, and not in place. */
const LONGEST_WAIT_MS = 25_000;
/**
 * A refresh whose answer was lost is sent once more: where the first never arrived, it works. Where it arrived, the
 * service has rotated the token, and nothing that is sent again can bring the new one.
 */
const MOST_SENDS = 2;
/** The service is left alone for so long after a failure of its own. */
const PAUSE_MS = 30_000;

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { connection, grants, http, serverOf, clock, sleep, random } = options;

  async function end(grant: Grant, cause: DeathCause, said: string | null): Promise<never> {
    await grants.die(grant, cause, said);
    throw new LinkNeeded(cause, grant.linkId, { said });
  }

  async function open(grant: Grant): Promise<SealedTokens> {
    try {
      return await grants.open(grant);
    } catch (error) {
      if (error instanceof SealBroken) return end(grant, 'sealed with another key', null);
      throw error;
    }
  }

  /** @returns the token, or undefined where the grant has to be looked at again */
  async function refresh(grant: Grant): Promise<AccessToken | undefined> {
    const { refreshToken } = await open(grant);
    if (refreshToken === null) return end(grant, 'expired', null);
    // Before the lease: this takes its own time, and sends no token.
    const server = await serverOf(grant.issuer).catch((error) => {
      throw new TryLater(`the link cannot be renewed: ${error.message}`, { at: clock() + PAUSE_MS, cause: error });
    });
    const by = randomUUID();
    const claimed = await grants.claimRefresh(grant, by, LEASE_MS);
    if (!claimed) return undefined;
    let tokens: Tokens;
    try {
      tokens = await refreshTokens({ server, resource: grant.resource }, { ...grant, refreshToken }, http);
    } catch (error) {
      return failed(error, claimed, by);
    }
    const saved = await grants.saveRefreshed(claimed, tokens, refreshToken);
    return saved && { token: tokens.accessToken, grant: saved };
  }

  /** @returns undefined where the grant has to be looked at again */
  async function failed(error: unknown, claimed: Grant, by: string): Promise<undefined> {
    if (error instanceof OAuthRefusal) {
      if (isPassing(error)) return later(error, claimed, by);
      const cause = causeOf(error, claimed);
      const died = await grants.die(claimed, cause, error.said);
      // Where another worker has saved newer tokens meanwhile, those count.
      if (died) throw new LinkNeeded(cause, claimed.linkId, { said: error.said });
      return undefined;
    }
    if (error instanceof OAuthUnavailable) return later(error, claimed, by);
    if (error instanceof McpUnanswered && !error.sent) return later(error, claimed, by);
    const isLost = error instanceof McpUnanswered || error instanceof InstanceFault;
    if (!isLost) throw error;
    await grants.release(claimed, by, true);
    return undefined;
  }

  /** Nothing was carried out. Where it was all the same, the next refresh is refused, and nothing is lost by it. */
  async function later(error: Error, claimed: Grant, by: string): Promise<never> {
    await grants.release(claimed, by, false);
    throw new TryLater(`the link cannot be renewed: ${error.message}`, { at: clock() + PAUSE_MS, cause: error });
  }

  return {
    async refuse(grant, said) {
      const kept = await grants.get(connection, grant.holder);
      if (kept?.version === grant.version) await end(grant, 'not accepted', said);
    },
    async get(holder, refused) {
      const giveUpAt = clock() + LONGEST_WAIT_MS;
      for (;;) {
        const grant = await grants.get(connection, holder);
        if (!grant) throw new LinkNeeded('never linked', null);
        if (grant.death) throw new LinkNeeded(grant.death.cause, grant.linkId, { said: grant.death.said });
        if (grant.renewAt > clock() && grant.version !== refused) {
          const { accessToken } = await open(grant);
          return { token: accessToken, grant };
        }
        if (grant.lease && grant.lease.until > clock()) {
          if (clock() > giveUpAt) throw new TryLater('another worker renews the link', { at: grant.lease.until });
          await sleep(LOOK_AGAIN_MS * (1 + random()));
          continue;
        }
        if (grant.sends >= MOST_SENDS) {
          if (await grants.die(grant, 'lost', null)) throw new LinkNeeded('lost', grant.linkId);
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
