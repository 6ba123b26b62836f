import { fittingTitle } from '../described.ts';
import { defineSimpleRun } from '../our-automation.ts';
import { taskJobs } from './command.ts';

/** No field of a task can hold a marker, so after a lost answer, the relay asks a person. */
export const run = defineSimpleRun(taskJobs, async ({ projectId, title, origin }, { create, stop }) => {
  if (projectId === undefined)
    stop('This channel has no project. Use a channel that has one, or ask your administrator to set one here');
  const name = fittingTitle(title);
  const description = name === title ? origin : `${title}\n\n${origin}`;
  const { id } = await create('create the task', 'tasks/create', { project_id: projectId, name, description });
  return `created task ${id}: ${name}`;
});
