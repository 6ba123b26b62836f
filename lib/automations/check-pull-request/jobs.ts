import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/**
 * A branch requires a check on a commit, so a commit has one check for all pull requests that have it as their head.
 */
const input = z.object({
  /** The configured name, `owner/name`. */
  repository: z.string(),
  installationId: z.optional(z.int()),
  headSha: z.string(),
  /** The login of the person who pressed **Re-run**. */
  rerunBy: z.optional(z.string()),
  /** True for the commit of a merge queue. */
  isInMergeQueue: z.optional(z.boolean()),
});
export type CheckInput = z.output<typeof input>;

export const checkJobs = defineJobs('check-pull-request', input);

export const EXTERNAL_IDS = { pullRequests: 'pull requests', mergeQueue: 'merge queue' } as const;
