import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** The input of an issue's job. Everything else is in the link, which is newer. */
const issueInput = z.object({
  repository: z.string(),
  issueNumber: z.int(),
  /** The key of the link. */
  entity: z.string(),
  installationId: z.optional(z.int()),
  /** False for an issue of a backfill without `--comment`. Otherwise relay.config.ts decides. */
  comment: z.optional(z.boolean()),
});
export type IssueInput = z.output<typeof issueInput>;

export const issueJobs = defineJobs('issue-to-defect', issueInput);

/** GitHub's id of the issue: it stays the same when the repository is renamed. */
export function issueEntity(issueId: number): string {
  return `issue-${issueId}`;
}
