import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

export const issueTaskJobs = defineJobs(
  'issue-to-task',
  z.object({ projectId: z.string(), title: z.string(), url: z.string() }),
);
