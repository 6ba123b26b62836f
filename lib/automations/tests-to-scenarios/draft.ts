import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** A run of a workflow that has ended. Times are epoch milliseconds. */
const workflowRun = z.object({
  id: z.int(),
  number: z.int(),
  /** From 1; each re-run counts. */
  attempt: z.int(),
  /** The name of its file: `ci.yml`. */
  workflow: z.string(),
  /** What started it: `push`. */
  event: z.string(),
  branch: z.nullable(z.string()),
  headSha: z.string(),
  /** Whether the commit is in the repository itself and not in a fork, whose branches may have the same names. */
  isOwn: z.boolean(),
  hasPassed: z.boolean(),
  createdAt: z.int(),
  /** When the attempt began. */
  startedAt: z.int(),
  endedAt: z.int(),
  url: z.string(),
});

export type WorkflowRun = z.output<typeof workflowRun>;

export const testRunJobs = defineJobs(
  'tests-to-scenarios',
  z.object({ repository: z.string(), installationId: z.optional(z.int()), run: workflowRun }),
);

/** Whether the results of a run are sent to the service. Others only get a check. */
export function counts(run: WorkflowRun, { branches }: { branches: readonly string[] }): boolean {
  return run.isOwn && ['push', 'schedule'].includes(run.event) && run.branch !== null && branches.includes(run.branch);
}
