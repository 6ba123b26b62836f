import * as z from 'zod/mini';
import { shortName } from '../lib/engine/record/job.ts';
import { counted } from '../lib/text.ts';

const answers = z.object({
  jobs: z.optional(z.array(z.string())),
  ignored: z.optional(z.string()),
  repeat: z.optional(z.boolean()),
  pong: z.optional(z.string()),
  error: z.optional(z.string()),
});

/**
 * The answer of a webhook in words: the jobs that the event made, or why it made none. @param text the answer, if it is
 * not JSON
 */
export function answerInWords(status: number, answer: unknown, text: string): string {
  const { jobs = [], ignored, repeat, pong, error } = answers.safeParse(answer).data ?? {};
  if (status >= 400) return `Refused with ${status}: ${error ?? text.trim()}`;
  if (jobs.length > 0)
    return `${counted(jobs.length, repeat ? 'known job' : 'job')}: ${jobs.map(shortName).join(', ')}`;
  return ignored === undefined ? (pong ?? `${status} ${text.trim()}`) : `No job: ${ignored}`;
}
