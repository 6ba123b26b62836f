import { defineRun } from '../our-automation.ts';
import { recognitionJobs } from './jobs.ts';

/** Finds a person's user in the service, because the form opens only for known users. */
export const run = defineRun(recognitionJobs, async (_, steps, { job: { replyTo, connection }, people }) => {
  if (replyTo?.in === 'slack') await people.userOf({ in: 'slack', id: replyTo.userId }, connection, steps);
  return 'Partner Relay knows who you are now: try again';
});
