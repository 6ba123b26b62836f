import * as z from 'zod/mini';
import { defineJobs } from '../jobs/automation.ts';

/** What a job of an issue knows. Everything else is in the link, which is newer. */
const issueInput = z.object({
  repository: z.string(),
  issueNumber: z.int(),
  /** Key of the link. */
  entity: z.string(),
  /** Of an issue that came by a transfer: the link of the old one. */
  cameFrom: z.optional(z.string()),
  /** Of an issue that went by a transfer: the link of the new one, and its name. */
  wentTo: z.optional(z.object({ entity: z.string(), name: z.string(), repository: z.string() })),
  installationId: z.optional(z.int()),
});
export type IssueInput = z.output<typeof issueInput>;

export const issueJobs = defineJobs('issue-to-defect', issueInput);

/** GitHub's id of the issue: it stays the same when the repository is renamed. */
export function issueEntity(issueId: number): string {
  return `issue-${issueId}`;
}
