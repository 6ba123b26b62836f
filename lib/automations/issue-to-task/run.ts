import { fittingTitle } from '../described.ts';
import { defineSimpleRun } from '../our-automation.ts';
import { issueTaskJobs } from './on.ts';

/** A lost answer asks a person: no field of a task is known that could carry a marker. */
export const run = defineSimpleRun(issueTaskJobs, async ({ projectId, title, url }, { create }) => {
  const task = { project_id: projectId, name: fittingTitle(title), description: `${title}\n\n${url}` };
  const { id } = await create('create the task', 'tasks/create', task);
  return `created task ${id}`;
});
