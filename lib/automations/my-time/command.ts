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

/** The answer to questions about other days. */
export const THIS_WEEK = '{slash} week shows this week. For earlier weeks, open the service.';

const verbOf = <Period extends 'today' | 'week'>(verb: Period, when: string): JobVerb<{ verb: Period }> => ({
  ...bare(verb, `shows what you have logged ${when}, and if you get reminders, what is missing`),
  read: (text) =>
    text === ''
      ? { command: { verb } }
      : {
          fault: `Write only “{slash} ${verb}”. ${THIS_WEEK}`,
          suggestions: [...new Set([verb, 'week'])],
        },
  permission: 'log',
  job: (_, origin) => myTimeJobs.draft({ ...eventOf(verb, verb, origin), input: { by: origin.by, period: verb } }),
});

export const todayVerb = verbOf('today', 'today');
export const weekVerb = verbOf('week', 'this week');
