import { fittingTitle } from '../described.ts';
import { defineSimpleRun } from '../our-automation.ts';
import { issueTaskJobs } from './on.ts';

/** No field of a task can hold a marker, so after a lost answer, the relay asks a person. */
export const run = defineSimpleRun(issueTaskJobs, async ({ projectId, title, url }, { create }) => {
  const task = { project_id: projectId, name: fittingTitle(title), description: `${title}\n\n${url}` };
  const { id } = await create('create the task', 'tasks/create', task);
  return `created task ${id}`;
});
