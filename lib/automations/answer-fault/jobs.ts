import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** The input: the fault of a command, and what to type instead. */
export const faultJobs = defineJobs('answer-fault', z.object({ fault: z.string() }));
