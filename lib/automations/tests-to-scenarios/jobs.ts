import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { workflowRun } from '../../platforms/github/payload.ts';

const input = z.object({
  repository: z.string(),
  installationId: z.optional(z.int()),
  run: z.extend(workflowRun, {
    /** The file name of the workflow, such as `ci.yml`. */
    workflow: z.string(),
  }),
});
export type WorkflowRun = z.output<typeof input>['run'];

export const testRunJobs = defineJobs('tests-to-scenarios', input);

/** Identifies one attempt of a run. */
export const attemptOf = (run: { id: number; run_attempt: number }) => ['workflow run', run.id, run.run_attempt];

/** Returns a text that sorts runs by creation. A re-run sorts before the run that was created next. */
export function orderOf({ created_at, id, run_attempt }: WorkflowRun): string {
  return [Date.parse(created_at), id, run_attempt].map((part) => String(part).padStart(16, '0')).join('-');
}
