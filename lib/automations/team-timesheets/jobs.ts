import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

const ofTeam = {
  team: z.string(),
  /** Only report what would be sent. This is the setting from when the job was made, even if relay.config.ts has changed since. */
  dryRun: z.boolean(),
};

/** A team, and the day that its people are reminded of. */
export const teamDayJobs = defineJobs(
  'team-timesheets',
  z.object({
    ...ofTeam,
    date: z.string(),
    /** How long the reminders stay due after the job was made. */
    dueForMs: z.number(),
  }),
);

/** A timesheet with missing hours. */
export const reminderJobs = defineJobs(
  'timesheet-reminder',
  z.object({
    ...ofTeam,
    date: z.string(),
    timesheet: z.object({
      userId: z.union([z.string(), z.number()]),
      name: z.string(),
      email: z.string(),
      createdOn: z.optional(z.string()),
      minutes: z.record(z.string(), z.number()),
      tasks: z.array(z.object({ id: z.string(), name: z.optional(z.string()) })),
      ids: z.array(z.string()),
    }),
    /** When the timesheet was read; it has no newer entries. Epoch milliseconds. */
    readAt: z.number(),
    /** How long the reminder stays due after the job was made, so that it does not arrive at night. */
    dueForMs: z.number(),
  }),
);

/** A team, and the week to summarize. */
export const summaryJobs = defineJobs(
  'timesheet-summary',
  z.object({ ...ofTeam, weekStart: z.string(), weekEnd: z.string() }),
);
