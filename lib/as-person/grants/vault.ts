import { SEAL_IV_BYTES, SealBroken, type SealKey, seal, sealKey, unseal } from '../../seal.ts';
import { grantsSecret, type Secrets } from '../../state/secrets/secrets.ts';

const SECRET = 'grants';

/** Seals texts with the key in Secrets Manager. After a rotation, what was sealed before can be opened for a day. */
export interface Vault {
  /**
   * Reads the key, unless it was read less than a minute ago. To be called before tokens are asked for: a process may live
   * longer than a key, and what it seals with an old one cannot be opened for long.
   * @throws {SecretError} without a key
   */
  readKey(): Promise<void>;
  /** @throws {SecretError} without a key */
  seal(text: string, associated: readonly string[]): Promise<Uint8Array>;
  /** @throws {SealBroken | SecretError} */
  unseal(sealed: Uint8Array, associated: readonly string[]): Promise<string>;
}

export function createVault(secrets: Secrets, randomBytes: (size: number) => Uint8Array): Vault {
  async function tryUnseal(sealed: Uint8Array, associated: readonly string[]): Promise<string> {
    const keys: SealKey[] = [];
    for await (const { key } of secrets.accepted(SECRET, grantsSecret)) keys.push(sealKey(key));
    return unseal(keys, sealed, associated);
  }

  return {
    async readKey() {
      secrets.refresh(SECRET);
      await secrets.current(SECRET, grantsSecret);
    },
    async seal(text, associated) {
      const { key } = await secrets.current(SECRET, grantsSecret);
      return seal(sealKey(key), text, associated, randomBytes(SEAL_IV_BYTES));
    },
    async unseal(sealed, associated) {
      try {
        return await tryUnseal(sealed, associated);
      } catch (error) {
        // Another process may have sealed it with a key that is newer than what this one has read, a moment ago perhaps.
        // No stranger can cause this read: what is unsealed comes from the own table.
        if (!(error instanceof SealBroken) || !secrets.refresh(SECRET, 0)) throw error;
        return tryUnseal(sealed, associated);
      }
    },
  };
}
