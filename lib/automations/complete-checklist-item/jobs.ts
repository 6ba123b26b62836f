import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

const input = z.object({
  items: z.array(z.string()),
  /** The state, not a toggle, so that a second send is harmless. */
  completed: z.boolean(),
  /** How many items exceeded the limit of one command. */
  leftOut: z.optional(z.int()),
});
export type ItemsInput = z.output<typeof input>;

export const checklistItemJobs = defineJobs('complete-checklist-item', input);
