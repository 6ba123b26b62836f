import type { ModalView } from '@slack/types';
import * as z from 'zod/mini';
import { LIST_PROJECTS, type ModalWithProjects } from '../automations/list-projects.ts';
import { LIST_TASKS, type ModalWithTasks } from '../automations/list-tasks.ts';
import { digest } from '../digest.ts';
import { type JobDraft, jobId } from '../jobs/job.ts';
import { connectionOf, type Desk } from './desk.ts';
import { type SlackMessage, warning } from './messages.ts';
import { escaped } from './mrkdwn.ts';
import { SlackRefusal, SlackUnanswered } from './slack-api.ts';
import type { OpenedView } from './update-modal.ts';
import { defectModal, type LogTimeModal, logTimeModal, type projectToLog } from './views.ts';

const opened = z.object({ view: z.object({ id: z.string(), hash: z.string() }) });

/** Projects do not come and go that often. */
const PROJECTS_FRESH_MS = 5 * 60_000;

export interface ModalRequest {
  triggerId: string;
  userId: string;
  channelId: string;
}

export interface DefectModalRequest extends ModalRequest {
  title?: string;
  description?: string;
  permalink?: string;
}

/**
 * Opens the modal for a defect at once, with the projects that were last seen, and has their list brought up to date.
 * @returns what to tell the person where it cannot be opened
 */
export async function openDefectModal(request: DefectModalRequest, desk: Desk): Promise<SlackMessage | undefined> {
  const { userId, channelId, title, description, permalink } = request;
  const connection = connectionOf(desk, channelId);
  const known = await desk.projects.get(connection);
  const modal: ModalWithProjects['modal'] = {
    memory: { channelId, ...(permalink !== undefined && { permalink }) },
    projectId: desk.settings.channels[channelId]?.projectId,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
  const { view, said } = await open(request, defectModal(desk.settings, { ...modal, projects: known?.projects }), desk);
  const isFresh = known && known.projects.length > 0 && desk.clock() - known.seenAt < PROJECTS_FRESH_MS;
  if (!view || isFresh) return said;
  const input: ModalWithProjects = { opened: view, modal };
  await desk.accept(fillingJob(LIST_PROJECTS, view, connection, { ...input }, `${userId}: projects for a form`));
  return said;
}

/** @returns what to tell the person where it cannot be opened */
export async function openLogTimeModal(
  request: ModalRequest,
  modal: LogTimeModal,
  desk: Desk,
): Promise<SlackMessage | undefined> {
  return (await open(request, logTimeModal(modal), desk)).said;
}

/** Opens the modal at once, and has the project's tasks put into it. @returns what to tell where it cannot be opened */
export async function openProjectModal(
  request: ModalRequest,
  { connection, project }: z.output<typeof projectToLog>,
  desk: Desk,
): Promise<SlackMessage | undefined> {
  const modal: ModalWithTasks['modal'] = { connection, projectName: project.name };
  const { view, said } = await open(request, logTimeModal({ ...modal, on: [] }), desk);
  if (!view) return said;
  const input: ModalWithTasks = { opened: view, projectId: project.id, modal };
  await desk.accept(fillingJob(LIST_TASKS, view, connection, { ...input }, `${request.userId}: tasks for a form`));
  return said;
}

/** The job that brings into an open modal what only the service knows. */
function fillingJob(
  automation: string,
  opened: OpenedView,
  connection: string,
  input: Record<string, unknown>,
  summary: string,
): JobDraft {
  const id = 'id' in opened ? opened.id : opened.externalId;
  const entity = `modal-${id}`;
  return { id: jobId(automation, id), automation, connection, lane: 'interactive', entity, summary, input };
}

/** What became of opening a modal: one that is open, or may be, and what there is to tell. */
interface Opening {
  view?: OpenedView;
  said?: SlackMessage;
}

async function open({ triggerId }: ModalRequest, view: ModalView, { slack, config }: Desk): Promise<Opening> {
  const fault = (why: string) => ({ said: warning(`The form could not be opened: ${escaped(why)}`) });
  if (!(await slack.isThere())) {
    return fault(`the relay has no token of the Slack app yet. Tell ${config.contact}.`);
  }
  // A form that opens although Slack's answer is lost must get its lists all the same.
  const externalId = `partner-relay-${digest(triggerId)}`;
  try {
    const fields = { trigger_id: triggerId, view: { ...view, external_id: externalId } };
    return { view: (await slack.call('views.open', fields, opened)).view };
  } catch (error) {
    if (error instanceof SlackUnanswered) {
      const said = warning('Slack did not say whether the form was opened. If you do not see it, please try again.');
      return { view: { externalId }, said };
    }
    // The person is still there, and can simply ask again.
    if (error instanceof SlackRefusal && !error.error.includes('trigger')) {
      return fault(`Slack refuses it (${error.error}). Tell ${config.contact}.`);
    }
    return fault('Slack did not take it in time. Please try again.');
  }
}
