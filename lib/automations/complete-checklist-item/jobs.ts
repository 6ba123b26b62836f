import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

const input = z.object({
  items: z.array(z.string()),
  /** A state rather than a toggle, so that sending it twice is harmless. */
  completed: z.boolean(),
  /** How many items were left out because there are too many for one command. */
  leftOut: z.optional(z.int()),
});
export type ItemsInput = z.output<typeof input>;

export const checklistItemJobs = defineJobs('complete-checklist-item', input);
