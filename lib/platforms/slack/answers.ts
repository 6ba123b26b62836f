import * as z from 'zod/mini';
import type { Secrets } from '../../state/secrets/secrets.ts';
import { parsedJson } from '../../text.ts';
import { type SealWith, sealText, unsealText } from './sealed-text.ts';

/** What a person answered to the question of a job. */
export type GivenAnswer = z.output<typeof answer>;

const answer = z.object({
  userId: z.string(),
  /** Their name, as Slack tells it. */
  by: z.string(),
  /** Where they pressed the button. */
  channelId: z.string(),
  /** The digest of the choice. */
  choice: z.string(),
  /** What the button said. */
  text: z.string(),
});

/** More roles may write a job than may answer for a person, so the job has the answer sealed. */
export const sealAnswer = (
  given: GivenAnswer,
  { jobId, step }: { jobId: string; step: string },
  by: SealWith,
): Promise<string> => sealText('answer', JSON.stringify(given), [jobId, step], by);

/** @returns undefined if the relay did not seal it for this question, or the secret that sealed it is gone */
export async function openAnswer(
  sealed: string,
  { jobId, step }: { jobId: string; step: string },
  secrets: Secrets,
): Promise<GivenAnswer | undefined> {
  const text = await unsealText('answer', sealed, [jobId, step], secrets);
  return answer.safeParse(parsedJson(text ?? '')).data;
}
