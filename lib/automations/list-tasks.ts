import * as z from 'zod/mini';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import { NeedsOperator } from '../jobs/interruption.ts';
import { listTasks, taskName } from '../partner/tasks.ts';
import { openedView, updateModal } from '../slack/update-modal.ts';
import { logTimeModal } from '../slack/views.ts';
import type { Tools } from './tools.ts';

/** A modal that was opened for a project, without its tasks. */
export const taskListJobs = defineJobs(
  'list-tasks',
  z.object({
    opened: openedView,
    projectId: z.string(),
    modal: z.object({ connection: z.string(), projectName: z.optional(z.string()) }),
  }),
);

/** As many as a list in a modal holds. */
const MAX_TASKS = 100;

/** Shows a project's tasks in an open modal. */
export function listTasksInModal({ slack, clock }: Tools): Automation {
  return defineAutomation(taskListJobs, async ({ opened, projectId, modal }, _job, steps) => {
    if (!slack) throw new NeedsOperator('relay.config.ts has no slack any more');
    const query = { project_id: projectId, per_page: MAX_TASKS };
    const { kept } = await steps.list('list tasks', listTasks, query, taskName, ({ id }) => id, 1);
    const on = kept.slice(0, MAX_TASKS).map(({ id, name }) => ({ id: String(id), name }));
    const updated = await updateModal(slack, clock, steps, opened, logTimeModal({ ...modal, on }));
    return updated ? `${on.length} tasks are shown in the modal` : 'nothing to do: the modal was closed already';
  });
}
