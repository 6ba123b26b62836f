import { attemptOf, testRunJobs } from '../../automations/tests-to-scenarios/draft.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { readPayload, workflowRunPayload } from '../../platforms/github/payload.ts';
import type { Taken } from './taken.ts';

/**
 * Takes the test results of a workflow run that has ended. The worker fetches them. Nothing is read of a run that does not
 * count: anybody can start one with a pull request, and fill it with artifacts.
 */
export function takeWorkflowRun({ event, payload }: GithubDelivery, config: RelayConfig): Taken | undefined {
  if (event !== 'workflow_run') return undefined;
  if (payload.action !== 'completed') return { ignored: `a workflow run that is ${payload.action} has no results yet` };
  const read = readPayload(event, workflowRunPayload, payload);
  const { workflow_run: run, repository, installation } = read;
  const settings = findRepository(config, repository.full_name);
  if (!settings?.tests) return { ignored: `${repository.full_name} has no tests in relay.config.ts` };
  const { name, connection, tests } = settings;
  const workflow = read.workflow?.path.split('/').at(-1) ?? 'without a file';
  if (!tests.workflows.includes(workflow)) {
    return { ignored: `the workflow ${workflow} is not in tests.workflows of relay.config.ts` };
  }
  // A branch of a fork may be called main, too.
  const isOwn = run.head_repository?.id === repository.id;
  if (!isOwn || !['push', 'schedule'].includes(run.event) || !tests.branches.includes(run.head_branch ?? '')) {
    return { ignored: 'only runs by a push or a schedule on a branch in tests.branches of relay.config.ts count' };
  }
  // What was cancelled or timed out has not run all of its tests.
  if (run.conclusion !== 'success' && run.conclusion !== 'failure') {
    return { ignored: `a workflow run that ended with ${run.conclusion} has no results to go by` };
  }
  const again = run.run_attempt > 1 ? `, attempt ${run.run_attempt}` : '';
  const job = testRunJobs.draft({
    happened: attemptOf(run),
    connection,
    lane: 'background',
    entity: `tests-${name}`,
    summary: `${name}: test results of run ${run.run_number} of ${workflow}${again}`,
    input: { repository: name, run: { ...run, workflow }, installationId: installation?.id },
  });
  return { happenedAt: Date.parse(run.updated_at), jobs: [job] };
}
