import { counts, testRunJobs, type WorkflowRun } from '../../automations/tests-to-scenarios/draft.ts';
import { findRepository } from '../../config/find-repository.ts';
import type { RelayConfig } from '../../config/schema.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { readPayload } from '../../platforms/github/payload.ts';
import { workflowRunPayload } from '../../platforms/github/runs/workflow-run.ts';
import type { Taken } from './taken.ts';

/** Takes the test results of a workflow run that has ended. The worker fetches them. */
export function takeWorkflowRun({ event, payload }: GithubDelivery, config: RelayConfig): Taken | undefined {
  if (event !== 'workflow_run') return undefined;
  if (payload.action !== 'completed') return { ignored: `a workflow run that is ${payload.action} has no results yet` };
  const { workflow_run: told, workflow, repository, installation } = readPayload(event, workflowRunPayload, payload);
  const settings = findRepository(config, repository.full_name);
  if (!settings?.tests) return { ignored: `${repository.full_name} has no tests in relay.config.ts` };
  const { name, connection, tests } = settings;
  const file = workflow?.path.split('/').at(-1);
  if (file === undefined || !tests.workflows.includes(file)) {
    return { ignored: `the workflow ${file ?? 'without a file'} is not in tests.workflows of relay.config.ts` };
  }
  // What was cancelled or timed out has not run all of its tests.
  if (told.conclusion !== 'success' && told.conclusion !== 'failure') {
    return { ignored: `a workflow run that ended with ${told.conclusion} has no results to go by` };
  }
  const endedAt = Date.parse(told.updated_at);
  const run: WorkflowRun = {
    id: told.id,
    number: told.run_number,
    attempt: told.run_attempt,
    workflow: file,
    event: told.event,
    branch: told.head_branch ?? null,
    headSha: told.head_sha,
    isOwn: told.head_repository?.id === repository.id,
    hasPassed: told.conclusion === 'success',
    createdAt: Date.parse(told.created_at),
    startedAt: Date.parse(told.run_started_at ?? told.created_at),
    endedAt,
    url: told.html_url,
  };
  const entity = `tests-${name}`;
  const again = run.attempt > 1 ? `, attempt ${run.attempt}` : '';
  const job = testRunJobs.draft({
    happened: ['workflow run', run.id, run.attempt],
    connection,
    lane: 'background',
    entity,
    // What changes nothing in the service need not wait for its turn.
    ...(!counts(run, tests) && { group: `${entity}-${run.id}` }),
    summary: `${name}: test results of run ${run.number} of ${file}${again}`,
    input: { repository: name, run, ...(installation && { installationId: installation.id }) },
  });
  return { happenedAt: endedAt, jobs: [job] };
}
