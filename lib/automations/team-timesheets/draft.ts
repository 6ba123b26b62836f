import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** A team, and the day that its people are reminded of. */
export const teamDayJobs = defineJobs(
  'team-timesheets',
  z.object({
    team: z.string(),
    /**
     * Only report what would be sent. This is the setting from when the job was made, even if relay.config.ts has
     * changed since.
     */
    dryRun: z.boolean(),
    date: z.string(),
    /** How long the reminders stay due after the job was made. */
    dueForMs: z.number(),
  }),
);
