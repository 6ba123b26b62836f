import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { workflowRun } from '../../platforms/github/runs/workflow-run.ts';

const input = z.object({
  repository: z.string(),
  installationId: z.optional(z.int()),
  run: z.extend(workflowRun, {
    /** The name of its file: `ci.yml`. */
    workflow: z.string(),
    /** Whether the commit is in the repository itself and not in a fork, whose branches may have the same names. */
    isOwn: z.boolean(),
  }),
});
export type WorkflowRun = z.output<typeof input>['run'];

export const testRunJobs = defineJobs('tests-to-scenarios', input);

/** What tells the attempts of all runs apart. */
export const attemptOf = (run: { id: number; run_attempt: number }) => ['workflow run', run.id, run.run_attempt];

/** Whether the results of a run are sent to the service. Others only get a check. */
export function counts({ isOwn, event, head_branch }: WorkflowRun, branches: readonly string[]): boolean {
  return isOwn && ['push', 'schedule'].includes(event) && branches.includes(head_branch ?? '');
}

/** Orders runs as text by their creation. A re-run comes before the run that was created next. */
export function orderOf({ created_at, id, run_attempt }: WorkflowRun): string {
  return [Date.parse(created_at), id, run_attempt].map((part) => String(part).padStart(16, '0')).join('-');
}
