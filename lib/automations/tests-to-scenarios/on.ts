import { onGithub } from '../github-trigger.ts';
import { attemptOf, testRunJobs } from './jobs.ts';

/**
 * Accepts the test results of a finished workflow run; the worker downloads them. Runs that do not count are not read
 * at all, because anybody can start one with a pull request and fill it with artifacts.
 */
export const on = onGithub('workflow_run', testRunJobs, (payload, { repository: settings }) => {
  const { action, workflow_run: run, repository, installation } = payload;
  if (action !== 'completed') return `a workflow run that is ${action} has no results yet`;
  const { name, tests } = settings;
  if (!tests) return `${name} has no tests in relay.config.ts`;
  const workflow = payload.workflow?.path.split('/').at(-1) ?? 'without a file';
  if (!tests.workflows.includes(workflow)) {
    return `the workflow ${workflow} is not in tests.workflows of relay.config.ts`;
  }
  // A branch of a fork may be called `main`, too.
  const isOwn = run.head_repository?.id === repository.id;
  if (!isOwn || !['push', 'schedule'].includes(run.event) || !tests.branches.includes(run.head_branch ?? '')) {
    return 'only runs by a push or a schedule on a branch in tests.branches of relay.config.ts count';
  }
  // A cancelled or timed-out run has not run all of its tests.
  if (run.conclusion !== 'success' && run.conclusion !== 'failure') {
    return `a workflow run that ended with ${run.conclusion} has no usable results`;
  }
  const again = run.run_attempt > 1 ? `, attempt ${run.run_attempt}` : '';
  return {
    happened: attemptOf(run),
    at: run.updated_at,
    entity: `tests-${name}`,
    summary: `${name}: test results of run ${run.run_number} of ${workflow}${again}`,
    input: { repository: name, run: { ...run, workflow }, installationId: installation?.id },
  };
});
