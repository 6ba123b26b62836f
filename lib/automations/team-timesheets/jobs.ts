import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

const ofTeam = {
  team: z.string(),
  /** True to only report what would be sent. Set when the job is created, even if relay.config.ts changes later. */
  dryRun: z.boolean(),
};

/** A team, and the day of the reminders. */
export const teamDayJobs = defineJobs(
  'team-timesheets',
  z.object({
    ...ofTeam,
    date: z.string(),
    /** How long after the job's creation the reminders stay due. */
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
    /** When the timesheet was read, so newer entries are missing; epoch milliseconds. */
    readAt: z.number(),
    /** How long after the job's creation the reminder stays due, so that it does not arrive at night. */
    dueForMs: z.number(),
  }),
);

/** A team, and the week to summarize. */
export const summaryJobs = defineJobs(
  'timesheet-summary',
  z.object({ ...ofTeam, weekStart: z.string(), weekEnd: z.string() }),
);
