import { NeedsOperator } from '../../engine/record/interruption.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import { updateModal } from '../../platforms/slack/views/update-modal.ts';
import { logTimeModal } from '../../platforms/slack/views/views.ts';
import { listTasks } from '../../service/partner/operations/tasks.ts';
import { counted } from '../../text.ts';
import type { Context } from '../context.ts';
import { keptTask } from '../log-time/find-task.ts';
import { taskListJobs } from './draft.ts';

/** The most options that a list in a modal can have. */
const MAX_TASKS = 100;

/** Shows a project's tasks in an open modal. */
export function listTasksInModal({ slack, clock, knownTasks }: Context): Automation {
  return defineAutomation(taskListJobs, async ({ opened, projectId, modal }, job, steps) => {
    if (!slack) throw new NeedsOperator('relay.config.ts no longer has slack');
    const { kept } = await steps.list('list tasks', listTasks, { project_id: projectId }, keptTask, ({ id }) => id, 1);
    const on = kept.slice(0, MAX_TASKS).map(({ id, name }) => ({ id: String(id), name }));
    await knownTasks.learn(job.connection, on);
    const updated = await updateModal(slack, clock, steps, opened, logTimeModal({ ...modal, on }));
    return updated ? `the modal shows ${counted(on.length, 'task')}` : 'nothing to do: the modal was closed already';
  });
}
