import * as z from 'zod/mini';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import { NeedsOperator } from '../jobs/interruption.ts';
import { listProjects } from '../partner/projects.ts';
import { openedView, updateModal } from '../slack/update-modal.ts';
import { defectMemory, defectModal } from '../slack/views.ts';
import type { Tools } from './tools.ts';

/** A modal that was opened with the projects as they were last seen. */
export const projectListJobs = defineJobs(
  'list-projects',
  z.object({
    opened: openedView,
    modal: z.object({
      memory: defectMemory,
      projectId: z.optional(z.string()),
      title: z.optional(z.string()),
      description: z.optional(z.string()),
    }),
  }),
);

const PAGE_SIZE = 100;
const PAGES = 20;

/** Brings the list of projects in an open modal, and in the table, up to date. */
export function listProjectsInModal({ config, slack, projects, clock }: Tools): Automation {
  return defineAutomation(projectListJobs, async ({ opened, modal }, job, steps) => {
    if (!slack || !config.slack) throw new NeedsOperator('relay.config.ts has no slack any more');
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
  });
}
