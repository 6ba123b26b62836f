import { SEAL_IV_BYTES, SealBroken, seal, sealKey, unseal } from '../../seal.ts';
import { type Secrets, slackSigningSecret } from '../../state/secrets/secrets.ts';

/**
 * A response_url lets anyone who has it write to the person in the app's name for half an hour. So a stored job has it
 * sealed with the signing secret, which intake and the worker can read and people who read the table cannot.
 *
 * @returns Base64
 */
export async function sealUrl(
  url: string,
  jobId: string,
  { secrets, randomBytes }: { secrets: Secrets; randomBytes: (size: number) => Uint8Array },
): Promise<string> {
  const { signingSecret } = await secrets.current('slack', slackSigningSecret);
  const sealed = seal(sealKey(signingSecret, 'response_url'), url, [jobId], randomBytes(SEAL_IV_BYTES));
  return Buffer.from(sealed).toString('base64');
}

/** @returns undefined if it belongs to another job, or the signing secret has changed since */
export async function unsealUrl(sealed: string, jobId: string, secrets: Secrets): Promise<string | undefined> {
  const { signingSecret } = await secrets.current('slack', slackSigningSecret);
  try {
    return unseal([sealKey(signingSecret, 'response_url')], Buffer.from(sealed, 'base64'), [jobId]);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
