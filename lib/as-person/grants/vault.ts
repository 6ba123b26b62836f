import { SEAL_IV_BYTES, SealBroken, type SealKey, seal, sealKey, unseal } from '../../seal.ts';
import { grantsSecret, type Secrets } from '../../state/secrets/secrets.ts';

const SECRET = 'grants';

export type Vault = ReturnType<typeof createVault>;

/** Seals texts with the key in Secrets Manager. After a rotation, the previous key still opens texts for one day. */
export function createVault(secrets: Secrets, randomBytes: (size: number) => Uint8Array) {
  async function tryUnseal(sealed: Uint8Array, associated: readonly string[]): Promise<string> {
    const keys: SealKey[] = [];
    for await (const { key } of secrets.accepted(SECRET, grantsSecret)) keys.push(sealKey(key));
    return unseal(keys, sealed, associated);
  }

  return {
    /**
     * Reads the key, unless it was read less than a minute ago. Call this before requesting tokens: a process may
     * outlive a key, and texts sealed with an old key soon cannot be opened.
     * @throws {SecretError} if there is no key
     */
    async readKey() {
      secrets.refresh(SECRET);
      await secrets.current(SECRET, grantsSecret);
    },
    /** @throws {SecretError} if there is no key */
    async seal(text: string, associated: readonly string[]) {
      const { key } = await secrets.current(SECRET, grantsSecret);
      return seal(sealKey(key), text, associated, randomBytes(SEAL_IV_BYTES));
    },
    /** @throws {SealBroken | SecretError} */
    async unseal(sealed: Uint8Array, associated: readonly string[]) {
      try {
        return await tryUnseal(sealed, associated);
      } catch (error) {
        // Another process may have sealed the text with a newer key than this process has read. A stranger cannot
        // trigger this read, because sealed texts come from the relay's own table.
        if (!(error instanceof SealBroken) || !secrets.refresh(SECRET, 0)) throw error;
        return tryUnseal(sealed, associated);
      }
    },
  };
}
