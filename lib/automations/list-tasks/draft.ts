import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { openedView } from '../../platforms/slack/views/update-modal.ts';

/** A modal that was opened for a project before its tasks were known. */
export const taskListJobs = defineJobs(
  'list-tasks',
  z.object({
    opened: openedView,
    projectId: z.string(),
    modal: z.object({ connection: z.string(), projectName: z.optional(z.string()) }),
  }),
);
