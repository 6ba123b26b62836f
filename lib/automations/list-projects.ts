import * as z from 'zod';
import type { RelayConfig } from '../config/schema.ts';
import { Park } from '../jobs/interruption.ts';
import { listProjects } from '../partner/projects.ts';
import { judged } from '../slack/judged.ts';
import type { KnownProjects } from '../slack/known-projects.ts';
import { type SlackApi, SlackRefusal } from '../slack/slack-api.ts';
import { type DefectModal, defectModal } from '../slack/views.ts';
import type { Automation } from './automation.ts';

export const LIST_PROJECTS = 'list-projects';

/** What a job of this automation knows: a modal that was opened with the projects as they were last seen. */
export interface OpenedModal {
  viewId: string;
  /** Of what was opened: a modal that has changed since is left alone. */
  hash: string;
  modal: Omit<DefectModal, 'projects'>;
}

export interface ListProjectsOptions {
  config: RelayConfig;
  slack: SlackApi | undefined;
  projects: KnownProjects;
  clock: () => number;
}

const PAGE_SIZE = 100;
const PAGES = 20;

/** Brings the list of projects in an open modal, and in the table, up to date. */
export function createListProjects({ config, slack, projects, clock }: ListProjectsOptions): Automation {
  return {
    name: LIST_PROJECTS,
    async run(job, steps) {
      const { viewId, hash, modal } = job.input as unknown as OpenedModal;
      if (!slack || !config.slack) throw new Park('relay.config.ts has no slack any more');
      const settings = config.slack;
      const { kept } = await steps.list(
        'list projects',
        listProjects,
        { limit: PAGE_SIZE },
        ({ project_id, name, isactive }) =>
          isactive === false ? undefined : { id: project_id, name: name ?? project_id },
        PAGES,
      );
      await projects.set(job.connection, kept);
      const view = defectModal(settings, { ...modal, projects: kept });
      const updated = await steps.look('update the modal', 'Slack views.update', () =>
        judged(clock, async () => {
          try {
            await slack.call('views.update', { view_id: viewId, hash, view }, z.object({}));
            return true;
          } catch (error) {
            // It was sent off or closed meanwhile.
            if (error instanceof SlackRefusal && /^(not_found|hash_conflict|view_not_found)$/.test(error.error))
              return false;
            throw error;
          }
        }),
      );
      return `${kept.length} projects are known${updated ? ', and shown in the modal' : '; the modal was closed already'}`;
    },
  };
}
