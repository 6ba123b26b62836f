import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { openedView } from '../../platforms/slack/views/update-modal.ts';
import { defectMemory } from '../../platforms/slack/views/views.ts';

/** The modal that was opened with the stored projects. */
export const projectListJobs = defineJobs(
  'list-projects',
  z.object({
    opened: openedView,
    modal: z.object({
      memory: defectMemory,
      projectId: z.optional(z.string()),
      title: z.optional(z.string()),
      description: z.optional(z.string()),
    }),
  }),
);
