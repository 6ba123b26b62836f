import * as z from 'zod/mini';
import { NeedsOperator } from '../engine/record/interruption.ts';
import { type Automation, defineAutomation, defineJobs } from '../engine/run/automation.ts';
import { openedView, updateModal } from '../platforms/slack/views/update-modal.ts';
import { logTimeModal } from '../platforms/slack/views/views.ts';
import { listTasks, taskName } from '../service/partner/operations/tasks.ts';
import type { Tools } from './tools.ts';

/** A modal that was opened for a project before its tasks were known. */
export const taskListJobs = defineJobs(
  'list-tasks',
  z.object({
    opened: openedView,
    projectId: z.string(),
    modal: z.object({ connection: z.string(), projectName: z.optional(z.string()) }),
  }),
);

/** The most options that a list in a modal can have. */
const MAX_TASKS = 100;

/** Shows a project's tasks in an open modal. */
export function listTasksInModal({ slack, clock }: Tools): Automation {
  return defineAutomation(taskListJobs, async ({ opened, projectId, modal }, _job, steps) => {
    if (!slack) throw new NeedsOperator('relay.config.ts no longer has slack');
    const query = { project_id: projectId, per_page: MAX_TASKS };
    const { kept } = await steps.list('list tasks', listTasks, query, taskName, ({ id }) => id, 1);
    const on = kept.slice(0, MAX_TASKS).map(({ id, name }) => ({ id: String(id), name }));
    const updated = await updateModal(slack, clock, steps, opened, logTimeModal({ ...modal, on }));
    return updated ? `${on.length} tasks are shown in the modal` : 'nothing to do: the modal was closed already';
  });
}
