import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { targetKinds } from '../../target.ts';

const input = z.object({
  defect: z.optional(z.string()),
  /** The issue whose defect is linked: `issue-653165` or `acme/web#42`. */
  issue: z.optional(z.string()),
  /** `named` is the id; for a task, the id or the name. */
  to: z.object({ kind: z.enum(targetKinds), named: z.string() }),
});
export type RelateInput = z.output<typeof input>;

export const relateJobs = defineJobs('relate', input);
