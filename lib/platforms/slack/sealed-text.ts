import { SEAL_IV_BYTES, SealBroken, seal, sealKey, unseal } from '../../seal.ts';
import { type Secrets, slackSigningSecret } from '../../state/secrets/secrets.ts';

/** What is sealed with the signing secret, which intake and the worker can read and people who read the table cannot. */
type Purpose = 'response_url' | 'answer';

export interface SealWith {
  secrets: Secrets;
  randomBytes: (size: number) => Uint8Array;
}

/**
 * @param associated what the text belongs to
 * @returns Base64
 */
export async function sealText(
  purpose: Purpose,
  text: string,
  associated: readonly string[],
  { secrets, randomBytes }: SealWith,
): Promise<string> {
  const { signingSecret } = await secrets.current('slack', slackSigningSecret);
  const sealed = seal(sealKey(signingSecret, purpose), text, associated, randomBytes(SEAL_IV_BYTES));
  return Buffer.from(sealed).toString('base64');
}

/** @returns undefined if it belongs to something else, was changed, or the secret that sealed it is no longer accepted */
export async function unsealText(
  purpose: Purpose,
  sealed: string,
  associated: readonly string[],
  secrets: Secrets,
): Promise<string | undefined> {
  for await (const { signingSecret } of secrets.accepted('slack', slackSigningSecret)) {
    try {
      return unseal([sealKey(signingSecret, purpose)], Buffer.from(sealed, 'base64'), associated);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
    }
  }
  return undefined;
}
