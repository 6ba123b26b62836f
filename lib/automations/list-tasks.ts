import type { Automation } from '../jobs/automation.ts';
import { Park } from '../jobs/interruption.ts';
import { listTasks, taskName } from '../partner/tasks.ts';
import type { SlackApi } from '../slack/slack-api.ts';
import { type OpenedView, updateModal } from '../slack/update-modal.ts';
import { type LogTimeModal, logTimeModal } from '../slack/views.ts';

export const LIST_TASKS = 'list-tasks';

/** What a job of this automation knows: a modal that was opened for a project, without its tasks. */
export interface ModalWithTasks {
  opened: OpenedView;
  projectId: string;
  modal: Omit<LogTimeModal, 'on'>;
}

export interface ListTasksOptions {
  slack: SlackApi | undefined;
  clock: () => number;
}

/** As many as a list in a modal holds. */
const MAX_TASKS = 100;

/** Shows a project's tasks in an open modal. */
export function listTasksInModal({ slack, clock }: ListTasksOptions): Automation {
  return {
    name: LIST_TASKS,
    async run(job, steps) {
      const { opened, projectId, modal } = job.input as unknown as ModalWithTasks;
      if (!slack) throw new Park('relay.config.ts has no slack any more');
      const query = { project_id: projectId, per_page: MAX_TASKS };
      const { kept } = await steps.list('list tasks', listTasks, query, taskName, ({ id }) => id, 1);
      const on = kept.slice(0, MAX_TASKS).map(({ id, name }) => ({ id: String(id), name }));
      const updated = await updateModal(slack, clock, steps, opened, logTimeModal({ ...modal, on }));
      return updated ? `${on.length} tasks are shown in the modal` : 'nothing to do: the modal was closed already';
    },
  };
}
