import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** A team, and the week to summarize. */
export const summaryJobs = defineJobs(
  'timesheet-summary',
  z.object({
    team: z.string(),
    /**
     * Only report what would be sent. This is the setting from when the job was made, even if relay.config.ts has
     * changed since.
     */
    dryRun: z.boolean(),
    weekStart: z.string(),
    weekEnd: z.string(),
  }),
);
