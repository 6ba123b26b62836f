import { SEAL_IV_BYTES, SealBroken, seal, sealKey, unseal } from '../../seal.ts';
import { type Secrets, slackSigningSecret } from '../../state/secrets/secrets.ts';

/**
 * The kinds of text that are sealed with the signing secret. Intake and the worker can read them; people who can read
 * the table cannot.
 */
type Purpose = 'response_url' | 'answer';

export interface SealWith {
  secrets: Secrets;
  randomBytes: (size: number) => Uint8Array;
}

/** @param associated the associated data: what the text belongs to @returns Base64 */
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

/**
 * @returns undefined if the associated data differ, the text was changed, or its sealing secret is no longer accepted
 */
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
