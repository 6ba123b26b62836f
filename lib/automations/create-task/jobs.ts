import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

export const taskJobs = defineJobs(
  'create-task',
  z.object({ projectId: z.optional(z.string()), title: z.string(), origin: z.string() }),
);
