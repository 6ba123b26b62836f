import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** The input of an issue's job. Everything else is in the link, where it is newer. */
const issueInput = z.object({
  repository: z.string(),
  issueNumber: z.int(),
  /** The link's key. */
  entity: z.string(),
  installationId: z.optional(z.int()),
  /** False for an issue of a backfill without `--comment`. Without the field, relay.config.ts decides. */
  comment: z.optional(z.boolean()),
});
export type IssueInput = z.output<typeof issueInput>;

export const issueJobs = defineJobs('issue-to-defect', issueInput);

/** Returns the link's key, from GitHub's id of the issue: the id stays the same when the repository is renamed. */
export function issueEntity(issueId: number): string {
  return `issue-${issueId}`;
}
