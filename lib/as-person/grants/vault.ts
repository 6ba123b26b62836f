import { SEAL_IV_BYTES, SealBroken, type SealKey, seal, sealKey, unseal } from '../../seal.ts';
import { grantsSecret, type Secrets } from '../../state/secrets/secrets.ts';

const SECRET = 'grants';

/** Seals texts with the key in Secrets Manager. After a rotation, the previous key opens texts for one more day. */
export interface Vault {
  /**
   * Reads the key, unless it was read less than a minute ago. Call this before tokens are requested: a process may live
   * longer than a key, and what an old key seals soon cannot be opened.
   * @throws {SecretError} if there is no key
   */
  readKey(): Promise<void>;
  /** @throws {SecretError} if there is no key */
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
        // Another process may have sealed it with a key that is newer than the one that this process has read. A
        // stranger cannot cause this read, because sealed texts come from the relay's own table.
        if (!(error instanceof SealBroken) || !secrets.refresh(SECRET, 0)) throw error;
        return tryUnseal(sealed, associated);
      }
    },
  };
}
