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

/** The step that keeps a {@link PersonOfTeam} for each member. */
export const TEAM_PEOPLE = 'see who is short';

/** What a team's job decided about a member. */
export const personOfTeam = z.object({
  name: z.string(),
  email: z.string(),
  /** The job of their reminder. */
  jobId: z.optional(z.string()),
  /** Why they get no reminder. */
  why: z.optional(z.string()),
});

export type PersonOfTeam = z.output<typeof personOfTeam>;
