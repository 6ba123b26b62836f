import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** The input of an issue's job. Everything else is in the link, which is newer. */
const issueInput = z.object({
  repository: z.string(),
  issueNumber: z.int(),
  /** The key of the link. */
  entity: z.string(),
  installationId: z.optional(z.int()),
  /** For an issue of a backfill. */
  backfill: z.optional(
    z.object({
      /** When the backfill of the repository began; epoch milliseconds. */
      startedAt: z.int(),
      /** Whether to comment on the issue with the id of its new defect. */
      comment: z.boolean(),
    }),
  ),
});
export type IssueInput = z.output<typeof issueInput>;

export const issueJobs = defineJobs('issue-to-defect', issueInput);

/** GitHub's id of the issue: it stays the same when the repository is renamed. */
export function issueEntity(issueId: number): string {
  return `issue-${issueId}`;
}
