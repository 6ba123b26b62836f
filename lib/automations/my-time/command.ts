import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { bare, eventOf, type JobVerb } from '../verb.ts';

export const myTimeJobs = defineJobs(
  'my-time',
  z.object({
    by: z.object({ in: z.enum(['slack', 'github']), id: z.string() }),
    period: z.enum(['today', 'week']),
  }),
);

const verbOf = <Period extends 'today' | 'week'>(verb: Period, does: string): JobVerb<{ verb: Period }> => ({
  ...bare(verb, does),
  read: (text) =>
    text === ''
      ? { command: { verb } }
      : {
          fault: `Write only “{slash} ${verb}”. {slash} week shows each day of this week. For earlier weeks, open the service.`,
          suggestions: [...new Set([verb, 'week'])],
        },
  permission: 'log',
  job: (_, origin) => myTimeJobs.draft({ ...eventOf(verb, verb, origin), input: { by: origin.by, period: verb } }),
});

export const todayVerb = verbOf('today', 'shows what you have logged today, and what is missing');
export const weekVerb = verbOf('week', 'shows what you have logged this week, and what is missing');
