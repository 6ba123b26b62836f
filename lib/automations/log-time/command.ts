import * as z from 'zod/mini';
import { type LogCommand, printLog, readLog, timeTyped } from '../../commands/log.ts';
import { DAY_MS } from '../../dates.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { type CommandOrigin, eventOf, type JobVerb } from '../verb.ts';

const timeToLog = z.extend(timeTyped, {
  by: z.object({ in: z.enum(['slack', 'github']), id: z.string() }),
  /** True if the person confirmed more than 24 hours on a day. */
  isSure: z.optional(z.literal(true)),
});

export type TimeToLog = z.output<typeof timeToLog>;

export const timeJobs = defineJobs('log-time', timeToLog);

/** An earlier date may be a mistake in the year or the month. */
const LONG_AGO_DAYS = 60;

export const logVerb: JobVerb<LogCommand> = {
  verb: 'log',
  usage: 'log <duration> [day] <task> [note]',
  does: 'logs your time on a task',
  examples: [
    'log 1h30m 4711 wrote tests',
    'log 1.5h yesterday 4711',
    'log 90m 2026-11-18 4711',
    'log 1:30 Checkout page wrote tests',
    'log 2h 4711 yesterday wrote tests',
  ],
  read: readLog,
  print: printLog,
  permission: 'log',
  inComments: 'logTime',
  doubt({ day }, now) {
    // `today` and `yesterday` are not dates.
    const daysAgo = Math.floor((now - Date.parse(day)) / DAY_MS);
    return daysAgo > LONG_AGO_DAYS ? `${day} is ${daysAgo} days ago.` : undefined;
  },
  job: timeJob,
};

/** Drafts the job for time that a person logs, with a command or a form. */
export function timeJob({ verb, ...time }: LogCommand, origin: CommandOrigin): JobDraft {
  const { note: _, open, unclear: __, ...withoutNote } = time;
  const asked = printLog({ verb, ...withoutNote });
  return timeJobs.draft({
    // The words behind the first may be a note, which must not be logged.
    ...eventOf(verb, open ? asked.replace(/["“](.*)["”]$/, '$1 …') : asked, origin),
    input: { by: origin.by, ...time, ...(origin.isSure && { isSure: true }) },
  });
}
