import { github, type Run } from 'partner-relay';
import * as z from 'partner-relay/zod';

const PROJECT = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const pullRequests = z.array(z.object({ number: z.number() }));

export const on = github('deployment_status.created', {
  by: 'anyone',
  input: { repository: z.string(), commit: z.string(), environment: z.string() },
  job: ({ deployment, deployment_status: { id, state, environment, created_at }, repository }) =>
    state === 'failure'
      ? {
          happened: [id],
          at: created_at,
          title: `Failed deployment to ${environment}`,
          input: { repository: repository.full_name, commit: deployment.sha, environment },
        }
      : `the deployment is ${state}`,
});

export const run: Run<typeof on> = async ({ repository, commit, environment }, { create, github, comment }) => {
  const title = `Deployment to ${environment} failed`;
  const { id } = await create('defect', 'defects/create', { project_id: PROJECT, title, description: commit });
  const found = await github('pull requests', `/repos/${repository}/commits/${commit}/pulls`, pullRequests);
  for (const { number } of found)
    await comment(`tell ${number}`, { repository, issue: number }, `${title}. This is defect ${id}.`);
  return `created defect ${id}`;
};
