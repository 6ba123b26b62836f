import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** A pull request that was merged, or an issue that was closed. */
export const workJobs = defineJobs(
  'note-work',
  z.object({ login: z.string(), did: z.string(), issues: z.array(z.string()), at: z.number() }),
);
