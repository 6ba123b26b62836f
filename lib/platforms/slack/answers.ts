import * as z from 'zod/mini';
import type { Secrets } from '../../state/secrets/secrets.ts';
import { parsedJson } from '../../text.ts';
import { type SealWith, sealText, unsealText } from './sealed-text.ts';

/** A person's answer to a job's question. */
export type GivenAnswer = z.output<typeof answer>;

const answer = z.object({
  userId: z.string(),
  /** The person's name in Slack. */
  by: z.string(),
  /** The channel in which the person pressed the button. */
  channelId: z.string(),
  /** The digest of the choice. */
  choice: z.string(),
  /** The text of the button. */
  text: z.string(),
});

/** Seals an answer, because more roles may write a job than may answer for a person. */
export const sealAnswer = (
  given: GivenAnswer,
  { jobId, step }: { jobId: string; step: string },
  by: SealWith,
): Promise<string> => sealText('answer', JSON.stringify(given), [jobId, step], by);

/** @returns undefined if the relay did not seal it for this question, or if the sealing secret is gone */
export async function openAnswer(
  sealed: string,
  { jobId, step }: { jobId: string; step: string },
  secrets: Secrets,
): Promise<GivenAnswer | undefined> {
  const text = await unsealText('answer', sealed, [jobId, step], secrets);
  return answer.safeParse(parsedJson(text ?? '')).data;
}
