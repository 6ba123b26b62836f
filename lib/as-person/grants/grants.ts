import { randomUUID } from 'node:crypto';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import { setFields, type Table } from '../../state/table/table.ts';
import type { Tokens } from '../protocol/oauth/authorization.ts';
import { isScope } from '../protocol/oauth/scopes.ts';
import {
  type DeathCause,
  type Grant,
  type GrantFacts,
  type Holder,
  readGrant,
  type SealedTokens,
  sealedFor,
} from './grant.ts';
import type { Vault } from './vault.ts';

/** The result of linking an account. Can be stored as sealed JSON until the person has confirmed it. */
export interface NewGrant extends Omit<GrantFacts, 'holder'> {
  /** The requested scopes. */
  asked: readonly string[];
  tokens: Tokens;
}

/** A stored grant with sealed tokens, before its first use. */
export type PreparedGrant = Omit<Grant, 'linkedAt' | 'lease' | 'death'> & { expiresAt: number };

export type Grants = ReturnType<typeof createGrants>;

/** Used if the service does not say (docs/partner-api.md#mcp-authorization). */
const ACCESS_TOKEN_SECONDS = 3_600;
/** Ten years. A service may express "never" as a number of seconds beyond any date. */
const LONGEST_SECONDS = 315_360_000;
const REFRESH_TOKEN_MS = 30 * 86_400_000;
/** A token is renewed early, by a tenth of its life and at most a minute, so that it does not expire during a call. */
const EARLY_SHARE = 0.1;
const EARLY_MOST_MS = 60_000;
/** How long an unusable grant is kept, so that its holder learns why. */
const REMEMBERED_MS = 30 * 86_400_000;

interface NewTokens extends SealedTokens {
  expiresInSeconds: number | undefined;
}

/** Stores grants in the table. Each write is one conditional write of one item. */
export function createGrants(table: Table, vault: Vault, clock: () => number) {
  const keyOf = ({ connection, holder }: Pick<Grant, 'connection' | 'holder'>) =>
    keys.grant(holder.in, holder.id, connection);

  async function get(connection: string, holder: Holder): Promise<Grant | undefined> {
    const item = await table.get(keyOf({ connection, holder }));
    return item && readGrant(item);
  }

  /** Returns the fields that new tokens always change. */
  async function withTokens(facts: GrantFacts, tokens: NewTokens) {
    const { accessToken, refreshToken, expiresInSeconds = ACCESS_TOKEN_SECONDS } = tokens;
    const now = clock();
    const lifeMs = Math.min(expiresInSeconds, LONGEST_SECONDS) * 1000;
    const unusedUntil = now + (refreshToken === null ? lifeMs : REFRESH_TOKEN_MS);
    return {
      sealed: await vault.seal(JSON.stringify({ accessToken, refreshToken } satisfies SealedTokens), sealedFor(facts)),
      version: randomUUID(),
      refreshedAt: now,
      renewAt: now + lifeMs - Math.min(lifeMs * EARLY_SHARE, EARLY_MOST_MS),
      unusedUntil,
      sends: 0,
      expiresAt: expiry(unusedUntil, REMEMBERED_MS),
    };
  }

  /**
   * Seals a grant for its holder without storing it.
   * @throws {SecretError} without a key to seal it
   */
  async function prepare(holder: Holder, { tokens, asked, ...grant }: NewGrant): Promise<PreparedGrant> {
    const facts = { ...grant, holder, scopes: (tokens.scopes ?? asked).filter(isScope), grantId: randomUUID() };
    return { ...facts, ...(await withTokens(facts, { ...tokens, refreshToken: tokens.refreshToken ?? null })) };
  }

  return {
    get,
    prepare,
    /**
     * Stores a grant. A person's newest link replaces the earlier one.
     * @throws {SecretError} without a key to seal it
     */
    async link(holder: Holder, grant: NewGrant) {
      const item = { ...(await prepare(holder, grant)), linkedAt: clock() };
      await table.put({ ...keyOf(item), ...item });
      return readGrant(item);
    },
    /**
     * Stores a prepared grant without opening it. Never replaces a stored copy of it, because a worker may have rotated
     * its tokens since.
     * @returns the stored grant, or undefined if it was forgotten since
     */
    async keep(prepared: PreparedGrant) {
      const isOther = {
        expression: 'attribute_not_exists(#grantId) OR #grantId <> :grantId',
        values: { grantId: prepared.grantId },
      };
      await table.put({ ...keyOf(prepared), ...prepared, linkedAt: clock() }, isOther);
      return get(prepared.connection, prepared.holder);
    },
    /** @returns true if there was a grant */
    async forget(connection: string, holder: Holder) {
      const key = keyOf({ connection, holder });
      const isThere = (await table.get(key)) !== undefined;
      await table.delete(key);
      return isThere;
    },
    /** @throws {SealBroken | SecretError} */
    async open(grant: Grant): Promise<SealedTokens> {
      return JSON.parse(await vault.unseal(grant.sealed ?? new Uint8Array(), sealedFor(grant)));
    },
    /**
     * Records that a refresh is about to be sent.
     * @returns undefined if another worker has changed the grant since it was read
     * @throws {SecretError} without a key to seal new tokens
     */
    async claimRefresh(grant: Grant, by: string, leaseMs: number) {
      await vault.readKey();
      const now = clock();
      const claimed = await table.update(
        keyOf(grant),
        setFields({ leaseBy: by, leaseUntil: now + leaseMs, sends: grant.sends + 1 }),
        {
          expression:
            '#version = :version AND #sends = :before AND attribute_not_exists(#deathCause) AND ' +
            '(attribute_not_exists(#leaseUntil) OR #leaseUntil <= :now)',
          values: { version: grant.version, before: grant.sends, now },
        },
      );
      // If this write's answer was late, another worker may have claimed the refresh since.
      return claimed?.leaseBy === by ? readGrant(claimed) : undefined;
    },
    /**
     * Releases the lease.
     * @param sent true if the refresh may have been carried out
     */
    async release(claimed: Grant, by: string, sent: boolean) {
      await table.update(
        keyOf(claimed),
        setFields({ sends: sent ? claimed.sends : claimed.sends - 1 }, ['leaseBy', 'leaseUntil']),
        { expression: '#leaseBy = :by', values: { by } },
      );
    },
    /**
     * Stores new tokens, and the used refresh token if the service did not rotate it. A grant that was marked dead
     * meanwhile works again, because the service has just renewed it.
     * @returns undefined if there are newer tokens, or the grant was forgotten
     */
    async saveRefreshed(claimed: Grant, { refreshToken, scopes, ...tokens }: Tokens, usedRefreshToken: string) {
      const next = {
        ...(await withTokens(claimed, { ...tokens, refreshToken: refreshToken ?? usedRefreshToken })),
        scopes: (scopes ?? claimed.scopes).filter(isScope),
      };
      const saved = await table.update(
        keyOf(claimed),
        setFields({ ...next }, ['leaseBy', 'leaseUntil', 'deathCause', 'deathAt']),
        { expression: '#version = :before', values: { before: claimed.version } },
      );
      return saved && readGrant(saved);
    },
    /** Marks a version as dead and deletes its tokens. @returns true if this call did */
    async die(grant: Grant, cause: DeathCause) {
      const now = clock();
      const died = await table.update(
        keyOf(grant),
        setFields({ deathCause: cause, deathAt: now, expiresAt: expiry(now, REMEMBERED_MS) }, [
          'sealed',
          'leaseBy',
          'leaseUntil',
        ]),
        {
          expression: '#version = :version AND attribute_not_exists(#deathCause)',
          values: { version: grant.version },
        },
      );
      return died !== undefined;
    },
  };
}
