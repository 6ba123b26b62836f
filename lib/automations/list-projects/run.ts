import { NeedsOperator } from '../../engine/record/interruption.ts';
import { updateModal } from '../../platforms/slack/views/update-modal.ts';
import { defectModal } from '../../platforms/slack/views/views.ts';
import { listProjects } from '../../service/partner/operations/projects.ts';
import { defineRun } from '../our-automation.ts';
import { projectListJobs } from './jobs.ts';

const PAGES = 20;

/** Updates the stored list of projects, and the list in an open modal. */
export const run = defineRun(projectListJobs, async ({ opened, modal }, steps, { job, config, slack, projects }) => {
  if (!slack || !config.slack) throw new NeedsOperator('relay.config.ts no longer has slack');
  const settings = config.slack;
  const { kept } = await steps.list(
    'list projects',
    listProjects,
    {},
    ({ project_id, name, isactive }) => (isactive === false ? undefined : { id: project_id, name: name ?? project_id }),
    ({ id }) => id,
    PAGES,
  );
  await projects.set(job.connection, kept);
  const view = defectModal(settings, { ...modal, projects: kept });
  const update = () => updateModal(slack, opened, view);
  const updated = await steps.read('update the modal', 'Slack views.update', update);
  return `${kept.length} projects are known${updated ? ', and shown in the modal' : '; the modal was closed already'}`;
});
