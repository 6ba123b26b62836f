import { exampleEvent } from './github-event.ts';

/** What a workflow run is to look like. */
export interface WantedRun {
  repository: string | undefined;
  /** `ci.yml` */
  workflow: string;
  branch: string;
  /** What started it: `push`. */
  startedBy: string;
  hasPassed: boolean;
}

const NUMBERS = 1_000_000;

/** A workflow run of GitHub's examples that has ended now. Each has a higher number than those of the seconds before. */
export function exampleRun(wanted: WantedRun): { runId: number; repository: string; payload: Record<string, unknown> } {
  const { payload } = exampleEvent({
    event: 'workflow_run',
    action: 'completed',
    repository: wanted.repository,
  });
  const { repository, workflow, workflow_run: run } = payload as Record<string, Record<string, unknown>>;
  const [runId, now] = [Date.now(), `${new Date().toISOString().slice(0, 19)}Z`];
  return {
    runId,
    repository: String(repository?.full_name),
    payload: {
      ...payload,
      workflow: { ...workflow, path: `.github/workflows/${wanted.workflow}` },
      workflow_run: {
        ...run,
        id: runId,
        run_number: Math.floor(runId / 1_000) % NUMBERS,
        run_attempt: 1,
        event: wanted.startedBy,
        conclusion: wanted.hasPassed ? 'success' : 'failure',
        head_branch: wanted.branch,
        head_repository: repository,
        created_at: now,
        run_started_at: now,
        updated_at: now,
        html_url: `https://github.com/${repository?.full_name}/actions/runs/${runId}`,
      },
    },
  };
}
