import type { RelayConfig } from '../config/schema.ts';
import type { Automation } from '../jobs/automation.ts';
import { Park } from '../jobs/interruption.ts';
import { listProjects } from '../partner/projects.ts';
import type { KnownProjects } from '../slack/known-projects.ts';
import { type OpenedView, updateModal } from '../slack/update-modal.ts';
import { type DefectModal, defectModal } from '../slack/views.ts';
import type { ListTasksOptions } from './list-tasks.ts';

export const LIST_PROJECTS = 'list-projects';

/** What a job of this automation knows: a modal that was opened with the projects as they were last seen. */
export interface ModalWithProjects {
  opened: OpenedView;
  modal: Omit<DefectModal, 'projects'>;
}

export interface ListProjectsOptions extends ListTasksOptions {
  config: RelayConfig;
  projects: KnownProjects;
}

const PAGE_SIZE = 100;
const PAGES = 20;

/** Brings the list of projects in an open modal, and in the table, up to date. */
export function listProjectsInModal({ config, slack, projects, clock }: ListProjectsOptions): Automation {
  return {
    name: LIST_PROJECTS,
    async run(job, steps) {
      const { opened, modal } = job.input as unknown as ModalWithProjects;
      if (!slack || !config.slack) throw new Park('relay.config.ts has no slack any more');
      const settings = config.slack;
      const { kept } = await steps.list(
        'list projects',
        listProjects,
        { limit: PAGE_SIZE },
        ({ project_id, name, isactive }) =>
          isactive === false ? undefined : { id: project_id, name: name ?? project_id },
        ({ id }) => id,
        PAGES,
      );
      await projects.set(job.connection, kept);
      const view = defectModal(settings, { ...modal, projects: kept });
      const updated = await updateModal(slack, clock, steps, opened, view);
      return `${kept.length} projects are known${updated ? ', and shown in the modal' : '; the modal was closed already'}`;
    },
  };
}
